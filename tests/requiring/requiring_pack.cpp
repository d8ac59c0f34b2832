// SPDX-License-Identifier: Apache-2.0
//
// Checks that differ in what they require, and nothing else.
#include <assay/plugin.hpp>

using namespace assay;

ASSAY_PLUGIN("requiring", "1.0", "assay tests")(registry& plugin) {
  const input x = randn({8, 8});
  auto& group = plugin.category("requiring", "one requirement each");
  const auto check = [&](const char* name, void (*state)(requirements&)) {
    requirements needed;
    state(needed);
    group.check(name, {x}, call("aten::relu", in(0))).needs(needed);
  };
  check("nothing", [](requirements&) {});
  check("rocm", [](requirements& r) { r.accelerator = "rocm"; });
  check("cuda_or_cpu", [](requirements& r) { r.accelerator = "cuda,cpu"; });
  check("gfx0000", [](requirements& r) { r.architectures = "gfx1032,gfx00*"; });
  check("gfx9", [](requirements& r) { r.architectures = "gfx9*"; });
  check("old_torch", [](requirements& r) { r.torch_below = "1.13"; });
  check("new_torch", [](requirements& r) { r.torch_at_least = "99.1"; });
  check("this_torch", [](requirements& r) {
    r.torch_at_least = "2.0";
    r.torch_below = "99";
  });
  check("little_memory", [](requirements& r) { r.free_memory_bytes = std::uint64_t{1} << 20; });
  check("much_memory", [](requirements& r) { r.free_memory_bytes = std::uint64_t{1} << 50; });
  check("arithmetic", [](requirements& r) { r.dtype_arithmetic = true; });
  check("several", [](requirements& r) {
    r.accelerator = "cuda";
    r.torch_below = "1.13";
  });
}
