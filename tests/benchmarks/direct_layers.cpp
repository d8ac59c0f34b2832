// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/addmm.h>
#include <ATen/ops/avg_pool2d.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/conv1d.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/conv3d.h>
#include <ATen/ops/conv_transpose2d.h>
#include <ATen/ops/einsum.h>
#include <ATen/ops/group_norm.h>
#include <ATen/ops/instance_norm.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/rms_norm.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/slice.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/transpose.h>
#include <ATen/ops/upsample_nearest2d.h>

#include "direct_calls.hpp"

namespace assay::benchmarks {

namespace {

constexpr std::int64_t row[] = {512};
constexpr double twice[] = {2.0, 2.0};

at::Tensor manual_attention(const tensors& in) {
  const at::Tensor scores = at::matmul(in[0], at::transpose(in[0], -1, -2));
  return at::matmul(at::softmax(at::mul(scores, 0.125), -1), in[0]);
}

at::Tensor converted_linear(const tensors& in, at::ScalarType type) {
  return at::linear(in[0].to(type), in[1].to(type));
}

}  // namespace

std::vector<direct_call> layer_calls() {
  return {
      {"linear/mm", [](const tensors& in) { return at::matmul(in[0], in[1]); }, {{1, 1}, {1, 1}}},
      {"linear/bmm",
       [](const tensors& in) { return at::matmul(in[0], in[1]); },
       {{1, 1, 1}, {1, 1, 1}}},
      {"linear/linear",
       [](const tensors& in) { return at::linear(in[0], in[1], in[2]); },
       {{1, 1}, {1, 1}, {1}}},
      {"linear/addmm",
       [](const tensors& in) { return at::addmm(in[0], in[1], in[2]); },
       {{1}, {1, 1}, {1, 1}}},
      {"linear/einsum",
       [](const tensors& in) {
         return at::einsum("bij,bjk->bik", {in[0], in[1]});
       },
       {{1, 1, 1}, {1, 1, 1}}},
      {"linear/linear_fp16",
       [](const tensors& in) { return converted_linear(in, at::kHalf); },
       {{1, 1}, {1, 1}}},
      {"linear/linear_bf16",
       [](const tensors& in) { return converted_linear(in, at::kBFloat16); },
       {{1, 1}, {1, 1}}},

      {"conv/conv1d",
       [](const tensors& in) { return at::conv1d(in[0], in[1], {}, 1, 1); },
       {{1, 1, 3}, {1, 1, 3}}},
      {"conv/conv2d",
       [](const tensors& in) { return at::conv2d(in[0], in[1], {}, 1, 1); },
       {{1, 1, 3, 3}, {1, 1, 3, 3}}},
      {"conv/conv3d",
       [](const tensors& in) { return at::conv3d(in[0], in[1], {}, 1, 1); },
       {{1, 1, 3, 3, 3}, {1, 1, 3, 3, 3}}},
      {"conv/depthwise_conv2d",
       [](const tensors& in) {
         return at::conv2d(in[0], at::slice(in[1], 1, 0, 1), {}, 1, 1, 1, 64);
       },
       {{1, 64, 3, 3}, {64, 64, 3, 3}}},
      {"conv/conv_transpose2d",
       [](const tensors& in) { return at::conv_transpose2d(in[0], in[1], {}, 1, 1); },
       {{1, 1, 3, 3}, {1, 1, 3, 3}}},
      {"conv/max_pool2d",
       [](const tensors& in) { return at::max_pool2d(in[0], 2); },
       {{1, 1, 2, 2}}},
      {"conv/avg_pool2d",
       [](const tensors& in) { return at::avg_pool2d(in[0], 2); },
       {{1, 1, 2, 2}}},
      {"conv/interpolate",
       [](const tensors& in) {
         return at::upsample_nearest2d(in[0], at::OptionalIntArrayRef(),
                                       at::ArrayRef<double>(twice));
       },
       {{1, 1, 1, 1}}},

      {"norm/layer_norm", [](const tensors& in) { return at::layer_norm(in[0], row); }, {{1, 512}}},
      {"norm/rms_norm", [](const tensors& in) { return at::rms_norm(in[0], row); }, {{1, 512}}},
      {"norm/batch_norm",
       [](const tensors& in) {
         return at::batch_norm(in[0], {}, {}, {}, {}, true, 0.1, 1e-5, true);
       },
       {{1, 1, 2, 2}}},
      {"norm/group_norm",
       [](const tensors& in) { return at::group_norm(in[0], 8); },
       {{1, 8, 2, 2}}},
      {"norm/instance_norm",
       [](const tensors& in) {
         return at::instance_norm(in[0], {}, {}, {}, {}, true, 0.1, 1e-5, true);
       },
       {{1, 1, 2, 2}}},

      {"attention/sdpa",
       [](const tensors& in) { return at::scaled_dot_product_attention(in[0], in[0], in[0]); },
       {{1, 1, 1, 8}}},
      {"attention/sdpa_causal",
       [](const tensors& in) {
         return at::scaled_dot_product_attention(in[0], in[0], in[0], {}, 0.0, true);
       },
       {{1, 1, 1, 8}}},
      {"attention/manual_attention", manual_attention, {{1, 1, 1, 8}}},
  };
}

}  // namespace assay::benchmarks
