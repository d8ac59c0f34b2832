// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <assay/plan.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>

#include "toml_pack_formula.hpp"

namespace assay::worker {

/// The named numbers of a check. An int stays one in a plan.
using named_sizes = std::map<std::string, std::variant<std::int64_t, double>>;

/// What a call may speak of.
struct call_scope {
  const named_sizes& sizes;
  formula_reader& formulas;  // knows the sizes
  std::uint32_t input_count;
  std::uint32_t position;  // of this call in its plan
};

/// Reads "r0 = aten::gelu(in0, approximate='tanh')", the form that `assay show` prints;
/// docs/writing-a-toml-pack.md has the grammar. Whether there is such an operator, and with these
/// arguments, is the binder's question. Throws text_mistake.
operator_call parse_call(std::string_view text, const call_scope& scope);

/// Whether a word means something in a call already, so that no number can have it as its name.
bool is_call_word(std::string_view word);

}  // namespace assay::worker
