// SPDX-License-Identifier: Apache-2.0
#include "smoke_checks.h"

#include <ATen/ATen.h>

#include <tuple>

namespace smoke {
namespace {

using at::Tensor;
using In = const Inputs&;

Tensor image_norm(In in, const Tensor& weight, const Tensor& bias, bool training) {
  const Tensor mean = in.image.mean({0, 2, 3}).to(at::kFloat).to(in.image.scalar_type());
  return at::batch_norm(in.image, weight, bias, training ? Tensor() : mean,
                        training ? Tensor() : mean.abs() + 1, training, 0.1, 1e-5, true);
}
Tensor attention(In in, bool causal) {
  return at::scaled_dot_product_attention(in.q, in.q, in.q, {}, 0.0, causal);
}
Tensor column_index(In in) { return in.index.unsqueeze(1).expand({64, 512}); }
Tensor ones(In in) { return at::ones({64}, in.image.options()); }

}  // namespace

Inputs Inputs::random(at::ScalarType dtype) {
  at::manual_seed(0);
  const auto r = [&](at::IntArrayRef sizes) { return at::randn(sizes).to(dtype); };
  Inputs in;
  in.x = r({128, 512});
  in.y = r({128, 512});
  in.w = r({512, 512});
  in.b = r({512});
  in.image = r({8, 64, 56, 56});
  in.kernel = r({64, 64, 3, 3});
  in.sequence = r({8, 64, 256});
  in.kernel1 = r({64, 64, 3});
  in.volume = r({2, 8, 16, 16, 16});
  in.kernel3 = r({8, 8, 3, 3, 3});
  in.q = r({2, 8, 256, 64});
  in.left = r({16, 128, 128});
  in.right = r({16, 128, 128});
  in.table = r({1000, 256});
  in.index = at::randperm(128).narrow(0, 0, 64);
  in.ids = at::randint(0, 1000, {8, 128}, at::kLong);
  in.labels = at::randint(0, 512, {128}, at::kLong);
  return in;
}

Inputs Inputs::to(at::Device device) const {
  Inputs in = *this;
  for (Tensor* tensor :
       {&in.x, &in.y, &in.w, &in.b, &in.image, &in.kernel, &in.sequence, &in.kernel1, &in.volume,
        &in.kernel3, &in.q, &in.left, &in.right, &in.table, &in.index, &in.ids, &in.labels}) {
    *tensor = tensor->to(device);
  }
  return in;
}

const std::vector<Check>& checks() {
  static const std::vector<Check> all = {
      {"add", [](In i) { return i.x + i.y; }},
      {"mul", [](In i) { return i.x * i.y; }},
      {"div", [](In i) { return i.x / (i.y.abs() + 1); }},
      {"exp", [](In i) { return i.x.exp(); }},
      {"sqrt", [](In i) { return i.x.abs().sqrt(); }},
      {"tanh", [](In i) { return i.x.tanh(); }},
      {"clamp", [](In i) { return i.x.clamp(-1, 1); }},
      {"where", [](In i) { return at::where(i.x > 0, i.x, i.y); }},
      {"pow", [](In i) { return i.x.abs().pow(1.5); }},
      {"relu", [](In i) { return at::relu(i.x); }},
      {"gelu", [](In i) { return at::gelu(i.x); }},
      {"silu", [](In i) { return at::silu(i.x); }},
      {"sigmoid", [](In i) { return i.x.sigmoid(); }},
      {"softmax", [](In i) { return i.x.softmax(-1); }},
      {"log_softmax", [](In i) { return i.x.log_softmax(-1); }},
      {"sum", [](In i) { return i.x.sum(); }},
      {"mean", [](In i) { return i.x.mean(-1); }},
      {"max", [](In i) { return std::get<0>(i.x.max(-1)); }},
      {"argmax", [](In i) { return i.x.argmax(-1); }},
      {"var", [](In i) { return i.x.var(at::IntArrayRef{-1}); }},
      {"cumsum", [](In i) { return i.x.cumsum(-1); }},
      {"topk", [](In i) { return std::get<0>(i.x.topk(10)); }},
      {"sort", [](In i) { return std::get<0>(i.x.sort(-1)); }},
      {"mm", [](In i) { return at::matmul(i.x, i.w); }},
      {"linear", [](In i) { return at::linear(i.x, i.w, i.b); }},
      {"bmm", [](In i) { return at::matmul(i.left, i.right); }},
      {"addmm", [](In i) { return at::addmm(i.b, i.x, i.w); }},
      {"einsum",
       [](In i) {
         return at::einsum("bij,bjk->bik", {i.left, i.right});
       }},
      {"linear_fp16", [](In i) { return at::linear(i.x.to(at::kHalf), i.w.to(at::kHalf)); }},
      {"linear_bf16",
       [](In i) { return at::linear(i.x.to(at::kBFloat16), i.w.to(at::kBFloat16)); }},
      {"conv1d", [](In i) { return at::conv1d(i.sequence, i.kernel1, {}, 1, 1); }},
      {"conv2d", [](In i) { return at::conv2d(i.image, i.kernel, {}, 1, 1); }},
      {"conv3d", [](In i) { return at::conv3d(i.volume, i.kernel3, {}, 1, 1); }},
      {"depthwise",
       [](In i) { return at::conv2d(i.image, i.kernel.narrow(1, 0, 1), {}, 1, 1, 1, 64); }},
      {"conv_transpose2d", [](In i) { return at::conv_transpose2d(i.image, i.kernel, {}, 1, 1); }},
      {"max_pool2d", [](In i) { return at::max_pool2d(i.image, 2); }},
      {"avg_pool2d", [](In i) { return at::avg_pool2d(i.image, 2); }},
      {"interpolate",
       [](In i) {
         return at::upsample_nearest2d(i.image, {112, 112});
       }},
      {"layer_norm", [](In i) { return at::layer_norm(i.x, {512}); }},
      {"rms_norm", [](In i) { return at::rms_norm(i.x, {512}); }},
      {"batch_norm", [](In i) { return image_norm(i, {}, {}, true); }},
      {"batch_norm with weights", [](In i) { return image_norm(i, ones(i), ones(i), true); }},
      {"batch_norm, evaluation", [](In i) { return image_norm(i, ones(i), ones(i), false); }},
      {"group_norm", [](In i) { return at::group_norm(i.image, 8); }},
      {"instance_norm",
       [](In i) { return at::instance_norm(i.image, {}, {}, {}, {}, true, 0.1, 1e-5, true); }},
      {"sdpa", [](In i) { return attention(i, false); }},
      {"sdpa_causal", [](In i) { return attention(i, true); }},
      {"attention by hand",
       [](In i) {
         return at::matmul((at::matmul(i.q, i.q.transpose(-1, -2)) * 0.125).softmax(-1), i.q);
       }},
      {"embedding", [](In i) { return at::embedding(i.table, i.ids); }},
      {"index_select", [](In i) { return i.x.index_select(0, i.index); }},
      {"gather", [](In i) { return i.x.gather(0, column_index(i)); }},
      {"scatter_add",
       [](In i) {
         return at::zeros_like(i.x).scatter_add(0, column_index(i), i.y.narrow(0, 0, 64));
       }},
      {"masked_fill", [](In i) { return i.x.masked_fill(i.x > 0, 0.); }},
      {"nonzero", [](In i) { return (i.x > 0).nonzero(); }},
      {"cat",
       [](In i) {
         return at::cat({i.x, i.y});
       }},
      {"transpose_contiguous", [](In i) { return i.x.t().contiguous(); }},
      {"cross_entropy", [](In i) { return at::cross_entropy_loss(i.x, i.labels); }},
      // Beyond the usual: in place, out=, indices, random, data-dependent shapes.
      {"in place", [](In i) { return i.x.clone().add_(1).mul_(i.y).t().relu_(); }},
      {"in place on a view",
       [](In i) {
         Tensor copy = i.x.clone();
         copy.narrow(1, 3, 5).fill_(2).add_(copy.narrow(1, 4, 5));
         return copy;
       }},
      {"out=",
       [](In i) {
         Tensor out = at::empty({0}, i.x.options());
         at::add_out(out, i.x, i.y);
         return at::mul_out(out, out, i.y);
       }},
      {"out= without a meta kernel",
       [](In i) {
         Tensor out = at::empty({0}, i.x.options());
         return at::index_select_out(out, i.x, 0, i.index);
       }},
      {"index with a mask", [](In i) { return i.x.index({i.x > 0}); }},
      {"index_put", [](In i) { return i.x.clone().index_put_({i.index}, i.y.narrow(0, 0, 64)); }},
      {"item", [](In i) { return i.x * i.x.mean(at::kFloat).item(); }},
      {"unique", [](In i) { return std::get<0>(at::_unique2(i.ids)); }},
      {"channels last",
       [](In i) {
         return at::conv2d(i.image.contiguous(at::MemoryFormat::ChannelsLast), i.kernel, {}, 1, 1);
       }},
      {"resize",
       [](In i) {
         return i.x.clone().resize_({4, 8}).mul(2);
       }},
      {"arange", [](In i) { return at::arange(10, i.x.options()); }},
      {"mixed dtypes", [](In i) { return i.x + i.index.narrow(0, 0, 1); }},
  };
  return all;
}

}  // namespace smoke
