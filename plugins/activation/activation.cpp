// SPDX-License-Identifier: Apache-2.0
#include <assay/plugin.hpp>

using namespace assay;

ASSAY_PLUGIN("activation", "0.1", "assay project")(registry& plugin) {
  const input x = randn({128, 512});
  auto& group = plugin.category("activation", "activation functions");

  group.check("relu", {x}, call("aten::relu", in(0)));
  group.check("gelu", {x}, call("aten::gelu", in(0)));
  group.check("silu", {x}, call("aten::silu", in(0)));
  group.check("sigmoid", {x}, call("aten::sigmoid", in(0)));
  group.check("softmax", {x}, call("aten::softmax.int", in(0), -1));
  group.check("log_softmax", {x}, call("aten::log_softmax.int", in(0), -1));
}
