// SPDX-License-Identifier: Apache-2.0
// The kernels that are registered for the device.
#pragma once

#include <torch/library.h>

namespace assay_simulated {

// Allocation, copies, and what only looks at metadata.
void register_memory_kernels(torch::Library& library);

// Operators that exist on GPUs alone: MIOpen's, and LibTorch's own.
void register_gpu_only_kernels(torch::Library& library);

// Everything else that the CPU has. To be called last.
void register_native_kernels(torch::Library& library);

}  // namespace assay_simulated
