// SPDX-License-Identifier: Apache-2.0
// Makes LibTorch choose as it does where its fast library is missing or refuses.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

namespace assay_simulated {

// Whether `op` is composed of others, among which LibTorch chooses.
bool has_slow_path(const c10::OperatorHandle& op);

// A kernel for the whole of `op`, which composes it as ever, but without fast paths.
c10::KernelFunction slow_path_kernel();

// On the thread that asks: inside such a kernel.
bool on_slow_path();

}  // namespace assay_simulated
