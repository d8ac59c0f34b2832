// SPDX-License-Identifier: Apache-2.0
//
// What the tests of the chain of evidence need beyond the classic checks.
#include <assay/plugin.hpp>

using namespace assay;

ASSAY_PLUGIN("evidence_pack", "0.1", "assay tests")(registry& plugin) {
  auto& group = plugin.category("evidence", "for the tests of the chain of evidence");
  group
      .check("batch_norm", {randn({4, 16, 8, 8}), randn({16}), randn({16})},
             call("aten::batch_norm", in(0), in(1), in(2), none, none, arg("training", true),
                  arg("momentum", 0.1), arg("eps", 1e-5), arg("cudnn_enabled", true)))
      .rounds(16, 4 * 8 * 8)
      .path("miopen", fast, runs_operator("aten::miopen_batch_norm"))
      .path("cudnn", fast, runs_operator("aten::cudnn_batch_norm"))
      .path("native", slow, runs_operator("aten::*native_batch_norm*"));

  // No fused kernel takes three dimensions.
  const input heads = randn({8, 64, 32});
  group
      .check("attention_3d", {heads},
             call("aten::scaled_dot_product_attention", in(0), in(0), in(0)))
      .contracts(16, 64)
      .path("math", slow, runs_operator("aten::_scaled_dot_product_attention_math*"));
}
