// SPDX-License-Identifier: Apache-2.0
// Planted faults, in the words in which a ROCm machine reports them.
#pragma once

#include <string>

#include "switches.h"

namespace assay_simulated {

[[noreturn]] void throw_missing(const std::string& op);
[[noreturn]] void throw_out_of_memory();
// `name` is like "aten::miopen_convolution".
[[noreturn]] void throw_miopen_failure(const std::string& name);

// On the queue's thread, before the kernel: hangs, crashes, or faults (poisons and throws).
void kernel_faults(const Faults& faults);

}  // namespace assay_simulated
