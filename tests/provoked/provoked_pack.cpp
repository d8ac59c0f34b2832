// SPDX-License-Identifier: Apache-2.0
//
// Calls that stock LibTorch refuses by itself, each for another reason: what a diagnosis must name.
#include <assay/plugin.hpp>

using namespace assay;

ASSAY_PLUGIN("provoked_pack", "0.1", "assay tests")(registry& plugin) {
  auto& group = plugin.category("provoked", "calls that LibTorch refuses");
  const std::vector<dtype> half{dtype::float16};
  const std::vector<dtype> single{dtype::float32};
  // No device has a factorisation of half-precision matrices.
  group.check("unsupported_dtype", {randn({16, 16})}, call("aten::linalg_qr", in(0))).dtypes(half);
  // Its kernel is registered for oneDNN's own tensors alone.
  group
      .check("missing_backend", {randn({16, 16})},
             call("aten::mkldnn_max_pool2d", in(0), ints{2, 2}))
      .dtypes(single);
  group.check("shape_mismatch", {randn({16, 8}), randn({16, 8})}, call("aten::mm", in(0), in(1)))
      .dtypes(single);
  group
      .check("dtype_mismatch", {randn({16, 16}), indices({16, 16}, 8)},
             call("aten::mm", in(0), in(1)))
      .dtypes(single);
  group
      .check("out_of_memory", {randn({16})},
             call("aten::expand", in(0), ints{1 << 20, 1 << 12, 16}),
             call("aten::clone", result(0)))
      .dtypes(single);
}
