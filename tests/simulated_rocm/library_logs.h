// SPDX-License-Identifier: Apache-2.0
// The lines that MIOpen, rocBLAS and hipBLASLt print when their variables ask for them.
#pragma once

#include <ATen/core/ivalue.h>

#include <string>

namespace assay_simulated {

// Logs one call of an operator that such a library would serve; no library: nothing. Does nothing
// without the switch `library_logs`.
void log_as_libraries(const std::string& op, const std::string& kernel,
                      c10::ArrayRef<c10::IValue> arguments);

}  // namespace assay_simulated
