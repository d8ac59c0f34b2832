// SPDX-License-Identifier: Apache-2.0
#include <assay/plugin.hpp>

using namespace assay;

ASSAY_PLUGIN("elementwise", "0.1", "assay project")(registry& plugin) {
  const input x = randn({128, 512});
  auto& group = plugin.category("elementwise", "one result for each element");

  group.check("add", {x, x}, call("aten::add.Tensor", in(0), in(1)));
  group.check("mul", {x, x}, call("aten::mul.Tensor", in(0), in(1)));
  group.check("div", {x, x},                           //
              call("aten::abs", in(1)),                //
              call("aten::add.Scalar", result(0), 1),  //
              call("aten::div.Tensor", in(0), result(1)));
  group.check("exp", {x}, call("aten::exp", in(0)));
  group.check("sqrt", {x}, call("aten::abs", in(0)), call("aten::sqrt", result(0)));
  group.check("tanh", {x}, call("aten::tanh", in(0)));
  group.check("clamp", {x}, call("aten::clamp", in(0), -1, 1));
  group.check("where", {x, x}, call("aten::gt.Scalar", in(0), 0),
              call("aten::where.self", result(0), in(0), in(1)));
  group.check("pow", {x}, call("aten::abs", in(0)),
              call("aten::pow.Tensor_Scalar", result(0), 1.5));
}
