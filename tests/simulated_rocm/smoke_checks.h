// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <vector>

namespace smoke {

struct Inputs {
  at::Tensor x, y, w, b, image, kernel, sequence, kernel1, volume, kernel3, q;
  at::Tensor index, table, ids, left, right, labels;

  static Inputs random(at::ScalarType dtype);
  Inputs to(at::Device device) const;
};

struct Check {
  std::string name;
  std::function<at::Tensor(const Inputs&)> run;
};

const std::vector<Check>& checks();

// What Kineto reports as having run on the device while gelu and a copy did, one name a line, each
// with the operator that it is linked to; empty when that is not as it should be.
std::string profile(const Inputs& inputs);

}  // namespace smoke
