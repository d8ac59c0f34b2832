// SPDX-License-Identifier: Apache-2.0
#include <assay/plugin.hpp>

using namespace assay;

namespace {

// Rows and columns: as small as people's scripts have them, and 512 MiB a tensor in float32.
constexpr std::int64_t classic[] = {128, 512};
constexpr std::int64_t filling[] = {16384, 8192};

// What goes through the memory for each element: every call of a plan reads and writes its own.
struct traffic {
  double tensors;
  double mask_bytes = 0.0;
};

template <typename... Calls>
check elementwise(const std::int64_t (&size)[2], const char* name, int inputs, traffic each,
                  double roundings, Calls... calls) {
  const shape sizes{size[0], size[1]};
  check made(name, std::vector<input>(static_cast<std::size_t>(inputs), randn(sizes)),
             {std::move(calls)...});
  const auto elements = static_cast<double>(size[0] * size[1]);
  made.moves(each.tensors * elements, each.mask_bytes * elements)
      .path("native", fast, runs_kernel("*at::native::*"));
  return roundings > 0 ? made.rounds(roundings) : made.exact();
}

}  // namespace

ASSAY_PLUGIN("elementwise", "0.1", "assay project")(registry& plugin) {
  auto& group = plugin.category("elementwise", "one result for each element");
  const auto add = [&](const char* name, int inputs, traffic each, double roundings,
                       auto... calls) {
    group.add(elementwise(classic, name, inputs, each, roundings, calls...))
        .large(elementwise(filling, name, inputs, each, roundings, calls...));
  };
  // Roundings: device functions such as exp are good to a few units in the last place; 0: exact.
  add("add", 2, {3}, 2, call("aten::add.Tensor", in(0), in(1)));
  add("mul", 2, {3}, 2, call("aten::mul.Tensor", in(0), in(1)));
  add("div", 2, {7}, 4,                        //
      call("aten::abs", in(1)),                //
      call("aten::add.Scalar", result(0), 1),  //
      call("aten::div.Tensor", in(0), result(1)));
  add("exp", 1, {2}, 4, call("aten::exp", in(0)));
  add("sqrt", 1, {4}, 2, call("aten::abs", in(0)), call("aten::sqrt", result(0)));
  add("tanh", 1, {2}, 4, call("aten::tanh", in(0)));
  add("clamp", 1, {2}, 0, call("aten::clamp", in(0), -1, 1));
  add("where", 2, {4, 2}, 0, call("aten::gt.Scalar", in(0), 0),
      call("aten::where.self", result(0), in(0), in(1)));
  add("pow", 1, {4}, 16, call("aten::abs", in(0)), call("aten::pow.Tensor_Scalar", result(0), 1.5));
}
