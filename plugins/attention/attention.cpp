// SPDX-License-Identifier: Apache-2.0
#include <assay/plugin.hpp>

using namespace assay;

ASSAY_PLUGIN("attention", "0.1", "assay project")(registry& plugin) {
  const input q = randn({2, 8, 256, 64});  // batch, heads, positions, head size
  auto& group = plugin.category("attention", "attention, fused and spelled out");

  group.check("sdpa", {q}, call("aten::scaled_dot_product_attention", in(0), in(0), in(0)));
  group.check(
      "sdpa_causal", {q},
      call("aten::scaled_dot_product_attention", in(0), in(0), in(0), arg("is_causal", true)));
  group.check("manual_attention", {q},                     //
              call("aten::transpose.int", in(0), -1, -2),  //
              call("aten::matmul", in(0), result(0)),      //
              call("aten::mul.Scalar", result(1), 0.125),  // 1 / sqrt(head size)
              call("aten::softmax.int", result(2), -1),    //
              call("aten::matmul", result(3), in(0)));
}
