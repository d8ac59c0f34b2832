// SPDX-License-Identifier: Apache-2.0
//
// Which values an operator wants in its tensors: indices that are in range, variances that are
// positive. A log records no values.
#pragma once

#include <assay/plan.hpp>

#include <optional>
#include <string>
#include <string_view>

#include "trace_log.hpp"

namespace assay::worker {

/// How one tensor of a call is to be filled.
struct tensor_fill {
  assay_fill fill = ASSAY_FILL_NORMAL;
  double low = 0.0;
  double high = 0.0;
  bool guessed = false;  // whole numbers that no rule covers
};

/// Integer tensors that no rule covers hold whole numbers from 1 to 7: small, and no divisor is 0.
inline constexpr double guessed_low = 1.0;
inline constexpr double guessed_high = 8.0;

/// The fill of the tensor at `argument` of the call (`item` in it where it is a list).
/// `kind`: 'f' floating, 'i' integer, 'b' bool.
tensor_fill fill_of(const log_entry& entry, std::size_t argument, std::size_t item, char kind);

/// Why a call cannot be repeated from what a log says, though it is well-formed; "" when it can.
std::string unrepeatable(const log_entry& entry);

/// "embedding" of "aten.embedding.default", "add" of "aten.add_.Tensor": namespace, overload and
/// the mark of an in-place operator left out.
std::string_view base_name(std::string_view op);

/// Whether it writes to its first argument: "aten.add_.Tensor".
bool is_in_place(std::string_view op);

/// The overload: "Tensor" of "aten.add_.Tensor"; "default" where there is none.
std::string_view overload_of(std::string_view op);

/// The call's argument at a position, or named; null where it is left out.
const log_value* argument_of(const log_entry& entry, std::size_t position,
                             std::string_view name = "");

}  // namespace assay::worker
