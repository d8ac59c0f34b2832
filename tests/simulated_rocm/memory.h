// SPDX-License-Identifier: Apache-2.0
// Memory of the simulated device, which is host memory under another name.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Storage.h>

#include <utility>
#include <vector>

namespace assay_simulated {

c10::Allocator* device_allocator();

// On `device`, with memory of its own.
at::Tensor empty_device_tensor(c10::IntArrayRef sizes, c10::IntArrayRef strides,
                               at::ScalarType dtype, c10::DeviceIndex device);

// Makes CPU tensors that see the memory of device tensors. Tensors that share a storage (or are one
// tensor) keep doing so, so that the CPU kernels see overlaps. An alias keeps the device memory.
class HostAliases {
 public:
  at::Tensor of(const at::Tensor& tensor);

 private:
  std::vector<std::pair<const c10::TensorImpl*, at::Tensor>> tensors_;
  std::vector<std::pair<const c10::StorageImpl*, c10::Storage>> storages_;
};

// Gives `tensor` these sizes and strides, and more memory when it needs that.
void resize_device_tensor(const at::Tensor& tensor, c10::IntArrayRef sizes,
                          c10::IntArrayRef strides);

}  // namespace assay_simulated
