// SPDX-License-Identifier: Apache-2.0
#include <assay/plugin.hpp>
#include <cmath>

using namespace assay;

namespace {

// `output`: sizes of the result; `per_element`: multiply-adds behind one element of it.
check convolution(const char* name, const shape& image, const shape& kernel, double weights,
                  const shape& output, double per_element, std::vector<operator_call> plan) {
  check made(name, {randn(image), randn(kernel)}, std::move(plan));
  const double sum_loss = 14.0 + 2.0 * std::sqrt(per_element);
  made.moves(elements_of(image) + weights + elements_of(output))
      .matrix_flops(2.0 * elements_of(output) * per_element)
      // One rounding of the result, and one to spare. Winograd's transforms cost accuracy: in
      // float32 with tiles of 6x6 (3x3 kernels, 64 channels) 56 roundings where a plain sum has 4.
      // In the half types they are allowed for where a kernel's name tells of them.
      .contracts(2, sum_loss * sum_loss)
      // MIOpen's last resort has kernels of this name behind the same operator.
      .path("naive", slow, runs_kernel("naive_conv*"))
      .path("miopen", fast, runs_operator("aten::miopen_*convolution*"))
      .path("cudnn", fast, runs_operator("aten::cudnn_convolution*"))
      .path("mkldnn", fast, runs_operator("aten::mkldnn_convolution*"))
      .path("native depthwise", acceptable, runs_operator("aten::_conv_depthwise2d*"))
      .path("native depthwise", acceptable, runs_operator("aten::conv_depthwise3d*"))
      .path("naive", slow, runs_operator("aten::*slow_conv*"))
      .path("naive", slow, runs_operator("aten::thnn_conv*"));
  return made;
}

check conv1d(std::int64_t batch, std::int64_t channels, std::int64_t length) {
  return convolution("conv1d", {batch, channels, length}, {channels, channels, 3},
                     static_cast<double>(channels * channels * 3), {batch, channels, length},
                     static_cast<double>(channels * 3),
                     {call("aten::conv1d", in(0), in(1), arg("padding", 1))});
}

check conv2d(std::int64_t batch, std::int64_t channels, std::int64_t side) {
  return convolution("conv2d", {batch, channels, side, side}, {channels, channels, 3, 3},
                     static_cast<double>(channels * channels * 9), {batch, channels, side, side},
                     static_cast<double>(channels * 9),
                     {call("aten::conv2d", in(0), in(1), arg("padding", 1))});
}

check conv3d(std::int64_t batch, std::int64_t channels, std::int64_t side) {
  return convolution("conv3d", {batch, channels, side, side, side}, {channels, channels, 3, 3, 3},
                     static_cast<double>(channels * channels * 27),
                     {batch, channels, side, side, side}, static_cast<double>(channels * 27),
                     {call("aten::conv3d", in(0), in(1), arg("padding", 1))});
}

// One filter for each channel: the first of each row of the kernel, a view with gaps.
check depthwise_conv2d(std::int64_t batch, std::int64_t channels, std::int64_t side) {
  check made = convolution(
      "depthwise_conv2d", {batch, channels, side, side}, {channels, channels, 3, 3},
      static_cast<double>(channels * 9), {batch, channels, side, side}, 9.0,
      {call("aten::slice.Tensor", in(1), 1, 0, 1),
       call("aten::conv2d", in(0), result(0), arg("padding", 1), arg("groups", channels))});
  // Nothing for matrix units: each filter sees one channel.
  const auto flops = 2.0 * 9.0 * static_cast<double>(batch * channels * side * side);
  return made.flops(flops);
}

check conv_transpose2d(std::int64_t batch, std::int64_t channels, std::int64_t side) {
  return convolution("conv_transpose2d", {batch, channels, side, side}, {channels, channels, 3, 3},
                     static_cast<double>(channels * channels * 9), {batch, channels, side, side},
                     static_cast<double>(channels * 9),
                     {call("aten::conv_transpose2d.input", in(0), in(1), arg("padding", 1))});
}

// `outputs_per_input`: how many elements come out for one that goes in.
check resampled(const char* name, const shape& image, double outputs_per_input,
                operator_call called) {
  check made(name, {randn(image)}, {std::move(called)});
  made.moves(elements_of(image) * (1.0 + outputs_per_input))
      .path("mkldnn", fast, runs_operator("aten::mkldnn_*pool*"))
      .path("native", fast, runs_kernel("*at::native::*"));
  return made;
}

check max_pool2d(const shape& image) {
  return resampled("max_pool2d", image, 0.25, call("aten::max_pool2d", in(0), 2)).exact();
}

check avg_pool2d(const shape& image) {
  return resampled("avg_pool2d", image, 0.25, call("aten::avg_pool2d", in(0), 2)).rounds(4, 4);
}

check interpolate(const shape& image) {
  return resampled("interpolate", image, 4.0,
                   call("aten::upsample_nearest2d.vec", in(0), none, floats{2.0, 2.0}))
      .exact();
}

}  // namespace

ASSAY_PLUGIN("conv", "0.1", "assay project")(registry& plugin) {
  auto& group = plugin.category("conv", "convolutions, pooling and resampling");
  const shape image{8, 64, 56, 56};
  const shape pictures{64, 128, 112, 112};  // 392 MiB in float32

  group.add(conv1d(8, 64, 256)).large(conv1d(64, 256, 8192));
  group.add(conv2d(8, 64, 56)).large(conv2d(32, 128, 112));
  group.add(conv3d(2, 8, 16)).large(conv3d(8, 64, 64));
  group.add(depthwise_conv2d(8, 64, 56)).large(depthwise_conv2d(64, 128, 112));
  group.add(conv_transpose2d(8, 64, 56)).large(conv_transpose2d(32, 128, 112));
  group.add(max_pool2d(image)).large(max_pool2d(pictures));
  group.add(avg_pool2d(image)).large(avg_pool2d(pictures));
  group.add(interpolate(image)).large(interpolate({64, 128, 64, 64}));
}
