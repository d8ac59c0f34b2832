// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "loaded_checks.hpp"

namespace assay::benchmarks {

/// checks/* and tiny/*: each check by its plan and by direct C++ calls, on its own inputs and on
/// the least ones. Throws std::runtime_error when checks and direct calls do not pair up.
void register_direct_benchmarks(const std::vector<loaded_check>& checks);

/// Whether plan and direct calls answer the same, on both sizes of inputs; names on standard error
/// each check where they do not.
bool direct_calls_agree(const std::vector<loaded_check>& checks);

}  // namespace assay::benchmarks
