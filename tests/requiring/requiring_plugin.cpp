// SPDX-License-Identifier: Apache-2.0
//
// A plugin whose checks all require the same, one of them more.
#include <assay/plugin.hpp>

using namespace assay;

ASSAY_PLUGIN("requiring_plugin", "1.0", "assay tests")(registry& plugin) {
  requirements of_all;
  of_all.torch_at_least = "99.1";
  plugin.needs(of_all);
  requirements of_one;
  of_one.accelerator = "rocm";
  const input x = randn({8, 8});
  auto& group = plugin.category("requiring_plugin", "what the plugin requires");
  group.check("plain", {x}, call("aten::relu", in(0)));
  group.check("more", {x}, call("aten::relu", in(0))).needs(of_one);
}
