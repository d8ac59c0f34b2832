// SPDX-License-Identifier: Apache-2.0
// The kernels that are registered for the device.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

namespace assay_simulated {

// Registers a boxed kernel so that the dispatcher's table shows it as one for this very operator,
// with a schema, as it shows a GPU's. (It shows a boxed fallback as a kernel without one.)
void register_kernel(const c10::OperatorHandle& op, c10::KernelFunction kernel);

// Allocation, copies, and what only looks at metadata.
void register_memory_kernels(torch::Library& library);

// Operators that exist on GPUs alone: MIOpen's, and LibTorch's own.
void register_gpu_only_kernels();

// Everything else that the CPU has. To be called last.
void register_native_kernels();

}  // namespace assay_simulated
