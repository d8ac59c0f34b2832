// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/abs.h>
#include <ATen/ops/add.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/div.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/gt.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/max.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/topk.h>
#include <ATen/ops/var.h>
#include <ATen/ops/where.h>

#include "direct_calls.hpp"

namespace assay::benchmarks {

namespace {
constexpr std::int64_t last[] = {-1};
}

std::vector<direct_call> pointwise_calls() {
  return {
      {"elementwise/add", [](const tensors& in) { return at::add(in[0], in[1]); }, {{1}, {1}}},
      {"elementwise/mul", [](const tensors& in) { return at::mul(in[0], in[1]); }, {{1}, {1}}},
      {"elementwise/div",
       [](const tensors& in) { return at::div(in[0], at::add(at::abs(in[1]), 1)); },
       {{1}, {1}}},
      {"elementwise/exp", [](const tensors& in) { return at::exp(in[0]); }, {{1}}},
      {"elementwise/sqrt", [](const tensors& in) { return at::sqrt(at::abs(in[0])); }, {{1}}},
      {"elementwise/tanh", [](const tensors& in) { return at::tanh(in[0]); }, {{1}}},
      {"elementwise/clamp", [](const tensors& in) { return at::clamp(in[0], -1, 1); }, {{1}}},
      {"elementwise/where",
       [](const tensors& in) { return at::where(at::gt(in[0], 0), in[0], in[1]); },
       {{1}, {1}}},
      {"elementwise/pow", [](const tensors& in) { return at::pow(at::abs(in[0]), 1.5); }, {{1}}},

      {"activation/relu", [](const tensors& in) { return at::relu(in[0]); }, {{1}}},
      {"activation/gelu", [](const tensors& in) { return at::gelu(in[0]); }, {{1}}},
      {"activation/silu", [](const tensors& in) { return at::silu(in[0]); }, {{1}}},
      {"activation/sigmoid", [](const tensors& in) { return at::sigmoid(in[0]); }, {{1}}},
      {"activation/softmax", [](const tensors& in) { return at::softmax(in[0], -1); }, {{1, 1}}},
      {"activation/log_softmax",
       [](const tensors& in) { return at::log_softmax(in[0], -1); },
       {{1, 1}}},

      {"reduction/sum", [](const tensors& in) { return at::sum(in[0]); }, {{1}}},
      {"reduction/mean",
       [](const tensors& in) { return at::mean(in[0], at::IntArrayRef(last)); },
       {{1, 1}}},
      {"reduction/max",
       [](const tensors& in) { return std::get<0>(at::max(in[0], -1)); },
       {{1, 1}}},
      {"reduction/argmax", [](const tensors& in) { return at::argmax(in[0], -1); }, {{1, 1}}},
      {"reduction/var",
       [](const tensors& in) { return at::var(in[0], at::IntArrayRef(last), true, false); },
       {{1, 2}}},
      {"reduction/cumsum", [](const tensors& in) { return at::cumsum(in[0], -1); }, {{1, 1}}},
      {"reduction/topk",
       [](const tensors& in) { return std::get<0>(at::topk(in[0], 10)); },
       {{1, 10}}},
      {"reduction/sort",
       [](const tensors& in) { return std::get<0>(at::sort(in[0], -1)); },
       {{1, 1}}},
  };
}

}  // namespace assay::benchmarks
