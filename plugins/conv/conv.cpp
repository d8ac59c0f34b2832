// SPDX-License-Identifier: Apache-2.0
#include <assay/plugin.hpp>

using namespace assay;

ASSAY_PLUGIN("conv", "0.1", "assay project")(registry& plugin) {
  const input image = randn({8, 64, 56, 56});
  const input kernel = randn({64, 64, 3, 3});
  auto& group = plugin.category("conv", "convolutions, pooling and resampling");

  group.check("conv1d", {randn({8, 64, 256}), randn({64, 64, 3})},
              call("aten::conv1d", in(0), in(1), arg("padding", 1)));
  group.check("conv2d", {image, kernel}, call("aten::conv2d", in(0), in(1), arg("padding", 1)));
  group.check("conv3d", {randn({2, 8, 16, 16, 16}), randn({8, 8, 3, 3, 3})},
              call("aten::conv3d", in(0), in(1), arg("padding", 1)));
  // One filter for each channel: the first of each row of the kernel, a view with gaps.
  group.check("depthwise_conv2d", {image, kernel}, call("aten::slice.Tensor", in(1), 1, 0, 1),
              call("aten::conv2d", in(0), result(0), arg("padding", 1), arg("groups", 64)));
  group.check("conv_transpose2d", {image, kernel},
              call("aten::conv_transpose2d.input", in(0), in(1), arg("padding", 1)));
  group.check("max_pool2d", {image}, call("aten::max_pool2d", in(0), 2));
  group.check("avg_pool2d", {image}, call("aten::avg_pool2d", in(0), 2));
  group.check("interpolate", {image},
              call("aten::upsample_nearest2d.vec", in(0), none, floats{2.0, 2.0}));
}
