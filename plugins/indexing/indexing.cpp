// SPDX-License-Identifier: Apache-2.0
#include <assay/plugin.hpp>

using namespace assay;

ASSAY_PLUGIN("indexing", "0.1", "assay project")(registry& plugin) {
  const input x = randn({128, 512});
  const input rows = indices({64}, 128);
  auto& group = plugin.category("indexing", "reading and writing at computed places");

  group.check("embedding", {randn({1000, 256}), indices({8, 128}, 1000)},
              call("aten::embedding", in(0), in(1)));
  group.check("index_select", {x, rows}, call("aten::index_select", in(0), 0, in(1)));
  group.check("gather", {x, rows},                             //
              call("aten::unsqueeze", in(1), 1),               //
              call("aten::expand", result(0), ints{64, 512}),  //
              call("aten::gather", in(0), 0, result(1)));
  group.check("scatter_add", {x, rows, x},                     //
              call("aten::zeros_like", in(0)),                 //
              call("aten::unsqueeze", in(1), 1),               //
              call("aten::expand", result(1), ints{64, 512}),  //
              call("aten::slice.Tensor", in(2), 0, 0, 64),     //
              call("aten::scatter_add", result(0), 0, result(2), result(3)));
  group.check("masked_fill", {x}, call("aten::gt.Scalar", in(0), 0),
              call("aten::masked_fill.Scalar", in(0), result(0), 0.0));
  group.check("nonzero", {x}, call("aten::gt.Scalar", in(0), 0), call("aten::nonzero", result(0)));
}
