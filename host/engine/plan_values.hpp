// SPDX-License-Identifier: Apache-2.0
//
// A plan's constants as values of LibTorch's.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>
#include <assay/abi.h>

#include <optional>
#include <string>

#include "bind.hpp"

namespace assay::engine {

/// "a list of ints": what the plan gives, for its author.
const char* kind_in_words(const assay_value& v);

/// What the schema wants, by the schema's names.
std::string type_in_words(const c10::Argument& argument);

c10::TypePtr without_optional(const c10::TypePtr& type);

/// Null where the type is no list.
c10::TypePtr element_of_list(const c10::TypePtr& type);

/// The constant as the schema's type, or nothing when the two do not go together.
std::optional<c10::IValue> convert(const assay_value& v, const c10::Argument& argument,
                                   const plan_site& site);

}  // namespace assay::engine
