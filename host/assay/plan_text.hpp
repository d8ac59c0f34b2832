// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace assay {

/// "r1 = aten::gelu(r0, approximate=\"tanh\")": a call of a `check` record's plan, which is at this
/// position in it. `own_dtype` stands for the dtype of the check. The same text in a TOML pack is
/// the same call (docs/writing-a-toml-pack.md).
std::string call_as_text(const nlohmann::json& call, std::size_t position,
                         const std::string& own_dtype);

/// A number of a plan. JSON has no infinity and no NaN: they come as "inf", "-inf" and "nan".
std::string number_as_text(const nlohmann::json& number);

}  // namespace assay
