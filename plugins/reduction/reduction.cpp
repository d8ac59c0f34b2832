// SPDX-License-Identifier: Apache-2.0
#include <assay/plugin.hpp>

using namespace assay;

ASSAY_PLUGIN("reduction", "0.1", "assay project")(registry& plugin) {
  const input x = randn({128, 512});
  auto& group = plugin.category("reduction", "reductions, scans and sorting");

  group.check("sum", {x}, call("aten::sum", in(0)));
  group.check("mean", {x}, call("aten::mean.dim", in(0), ints{-1}));
  group.check("max", {x}, call("aten::max.dim", in(0), -1));
  group.check("argmax", {x}, call("aten::argmax", in(0), -1));
  group.check("var", {x}, call("aten::var.dim", in(0), ints{-1}));
  group.check("cumsum", {x}, call("aten::cumsum", in(0), -1));
  group.check("topk", {x}, call("aten::topk", in(0), 10));
  group.check("sort", {x}, call("aten::sort", in(0), -1));
}
