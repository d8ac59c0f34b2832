// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <assay/abi.h>

#include <cstdint>
#include <vector>

namespace assay::engine {

/// The check's inputs on `device`, contiguous, filled as assay_input promises. `dtype` stands for
/// ASSAY_DTYPE_OF_CHECK. Throws plan_error for an input that cannot be made.
std::vector<at::Tensor> make_inputs(const assay_check& check, std::int32_t dtype,
                                    const at::Device& device, std::uint64_t run_seed);

}  // namespace assay::engine
