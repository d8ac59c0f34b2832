// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/cat.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/gt.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/masked_fill.h>
#include <ATen/ops/nonzero.h>
#include <ATen/ops/scatter_add.h>
#include <ATen/ops/slice.h>
#include <ATen/ops/t.h>
#include <ATen/ops/zeros_like.h>

#include "direct_calls.hpp"

namespace assay::benchmarks {

namespace {

constexpr std::int64_t rows_wanted[] = {64, 512};

at::Tensor scatter_add(const tensors& in) {
  const at::Tensor target = at::zeros_like(in[0]);
  const at::Tensor places = in[1].unsqueeze(1).expand(rows_wanted);
  return at::scatter_add(target, 0, places, at::slice(in[2], 0, 0, 64));
}

}  // namespace

std::vector<direct_call> tensor_calls() {
  return {
      {"indexing/embedding",
       [](const tensors& in) { return at::embedding(in[0], in[1]); },
       {{1, 1}, {1, 1}}},
      {"indexing/index_select",
       [](const tensors& in) { return at::index_select(in[0], 0, in[1]); },
       {{1, 1}, {1}}},
      {"indexing/gather",
       [](const tensors& in) {
         return at::gather(in[0], 0, in[1].unsqueeze(1).expand(rows_wanted));
       },
       {{1, 512}, {1}}},
      {"indexing/scatter_add", scatter_add, {{1, 512}, {1}, {64, 512}}},
      {"indexing/masked_fill",
       [](const tensors& in) { return at::masked_fill(in[0], at::gt(in[0], 0), 0.0); },
       {{1}}},
      {"indexing/nonzero", [](const tensors& in) { return at::nonzero(at::gt(in[0], 0)); }, {{1}}},

      {"tensor/cat",
       [](const tensors& in) {
         return at::cat({in[0], in[1]});
       },
       {{1}, {1}}},
      {"tensor/transpose_contiguous",
       [](const tensors& in) { return at::t(in[0]).contiguous(); },
       {{2, 2}}},
      {"tensor/cross_entropy",
       [](const tensors& in) { return at::cross_entropy_loss(in[0], in[1]); },
       {{1, 1}, {1}}},
  };
}

}  // namespace assay::benchmarks
