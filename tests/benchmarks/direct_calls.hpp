// SPDX-License-Identifier: Apache-2.0
//
// Each check as a C++ program would write it, to compare assay's boxed calls with.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace assay::benchmarks {

using tensors = std::vector<at::Tensor>;
using sizes = std::vector<std::int64_t>;

struct direct_call {
  const char* check;                   // "category/name"
  at::Tensor (*call)(const tensors&);  // of the check's inputs; the first of its outputs
  std::vector<sizes> tiny;             // the least sizes with which its operators work
};

std::vector<direct_call> pointwise_calls();  // elementwise, activation, reduction
std::vector<direct_call> layer_calls();      // linear, conv, norm, attention
std::vector<direct_call> tensor_calls();     // indexing, tensor

}  // namespace assay::benchmarks
