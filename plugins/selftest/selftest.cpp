// SPDX-License-Identifier: Apache-2.0
//
// Planted faults for `assay selftest`: each check's name says what is wrong with it. Its operators
// are the engine's own; the plugin lies apart from the op packs, so that no other run sees it.
#include <assay/plugin.hpp>

using namespace assay;

ASSAY_PLUGIN("selftest", "0.1", "assay project")(registry& plugin) {
  const input x = randn({128, 512});
  auto& group = plugin.category("selftest", "planted faults that every link must find");

  for (const char* fault :
       {"good", "cpu_output", "round_trip", "host_sync", "wrong_value", "nan", "zeros", "warn",
        "throws", "out_of_memory", "overrun", "unrepeatable", "device_assert", "aborts", "hang"}) {
    group
        .add(check(fault, {x}, {call(std::string("assay_selftest::") + fault, in(0))})
                 .reference({call("aten::relu", in(0))})
                 .dtypes({dtype::float32})
                 .rounds(4))
        .moves(2.0 * 128 * 512);
  }

  // Right, on the device, and on a path that nobody wants.
  const input q = randn({2, 8, 256, 64});
  group
      .add(check("slow_path", {q},
                 {call("aten::_scaled_dot_product_attention_math", in(0), in(0), in(0))})
               .dtypes({dtype::float32})
               .contracts(16, 256))
      .path("math", slow, runs_operator("aten::_scaled_dot_product_attention_math*"));
}
