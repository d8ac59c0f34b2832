// SPDX-License-Identifier: Apache-2.0
#include <assay/plugin.hpp>

using namespace assay;

ASSAY_PLUGIN("norm", "0.1", "assay project")(registry& plugin) {
  const input x = randn({128, 512});
  const input image = randn({8, 64, 56, 56});
  auto& group = plugin.category("norm", "normalisation layers");

  group.check("layer_norm", {x}, call("aten::layer_norm", in(0), ints{512}));
  group.check("rms_norm", {x}, call("aten::rms_norm", in(0), ints{512}));
  // Neither weights nor running statistics, so that the statistics are those of the input.
  group.check("batch_norm", {image},
              call("aten::batch_norm", in(0), none, none, none, none, arg("training", true),
                   arg("momentum", 0.1), arg("eps", 1e-5), arg("cudnn_enabled", true)));
  group.check("group_norm", {image}, call("aten::group_norm", in(0), 8));
  group.check(
      "instance_norm", {image},
      call("aten::instance_norm", in(0), none, none, none, none, arg("use_input_stats", true),
           arg("momentum", 0.1), arg("eps", 1e-5), arg("cudnn_enabled", true)));
}
