// SPDX-License-Identifier: Apache-2.0
// The tensors in an operator's arguments and results.
#pragma once

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <optional>

namespace assay_simulated {

// Calls `with` for every tensor in `value`, lists included.
template <typename With>
void for_each_tensor(const c10::IValue& value, With&& with) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) with(value.toTensor());
  } else if (value.isTensorList()) {
    for (const at::Tensor& tensor : value.toTensorList()) {
      if (tensor.defined()) with(tensor);
    }
  } else if (value.isOptionalTensorList()) {
    for (const auto& element : value.toListRef()) for_each_tensor(element, with);
  }
}

// A copy of `value` in which every tensor is `replace(tensor)`, and every device `device`.
template <typename Replace>
c10::IValue replaced(const c10::IValue& value, c10::Device device, Replace&& replace) {
  const auto one = [&](const at::Tensor& tensor) {
    return tensor.defined() ? replace(tensor) : at::Tensor();
  };
  if (value.isTensor()) return one(value.toTensor());
  if (value.isTensorList()) {
    c10::List<at::Tensor> list;
    for (const at::Tensor& tensor : value.toTensorList()) list.push_back(one(tensor));
    return list;
  }
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> list;
    for (const auto& element : value.toListRef()) {
      list.push_back(element.isTensor() ? std::optional(one(element.toTensor())) : std::nullopt);
    }
    return list;
  }
  if (value.isDevice()) return device;
  return value;
}

}  // namespace assay_simulated
