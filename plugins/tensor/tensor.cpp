// SPDX-License-Identifier: Apache-2.0
#include <assay/plugin.hpp>

using namespace assay;

ASSAY_PLUGIN("tensor", "0.1", "assay project")(registry& plugin) {
  const input x = randn({128, 512});
  auto& group = plugin.category("tensor", "rearranging tensors, and the loss");

  group.check("cat", {x, x}, call("aten::cat", list({in(0), in(1)})));
  group.check("transpose_contiguous", {x}, call("aten::t", in(0)),
              call("aten::contiguous", result(0)));
  group.check("cross_entropy", {x, indices({128}, 512)},
              call("aten::cross_entropy_loss", in(0), in(1)));
}
