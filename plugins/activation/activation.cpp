// SPDX-License-Identifier: Apache-2.0
#include <assay/plugin.hpp>

using namespace assay;

namespace {

constexpr std::int64_t classic[] = {128, 512};
constexpr std::int64_t filling[] = {65536, 2048};  // 512 MiB a tensor in float32

check activation(const std::int64_t (&size)[2], const char* name, double roundings, double terms,
                 operator_call called) {
  check made(name, {randn({size[0], size[1]})}, {std::move(called)});
  made.moves(2.0 * static_cast<double>(size[0] * size[1]))
      .path("native", fast, runs_kernel("*at::native::*"))
      .path("native", fast, runs_kernel("*softmax*"))
      .path("miopen", fast, runs_operator("aten::miopen_softmax*"));
  return roundings > 0 ? made.rounds(roundings, terms) : made.exact();
}

}  // namespace

ASSAY_PLUGIN("activation", "0.1", "assay project")(registry& plugin) {
  auto& group = plugin.category("activation", "activation functions");
  const auto add = [&](const char* name, double roundings, bool sums, const operator_call& called) {
    const auto terms = [&](const std::int64_t(&size)[2]) {
      return sums ? static_cast<double>(size[1]) : 1.0;
    };
    group.add(activation(classic, name, roundings, terms(classic), called))
        .large(activation(filling, name, roundings, terms(filling), called));
  };
  add("relu", 0, false, call("aten::relu", in(0)));
  // 1 + erf(x) cancels where x is far below 0: small values with a large relative error.
  add("gelu", 8, false, call("aten::gelu", in(0)));
  add("silu", 4, false, call("aten::silu", in(0)));
  add("sigmoid", 4, false, call("aten::sigmoid", in(0)));
  add("softmax", 8, true, call("aten::softmax.int", in(0), -1));
  add("log_softmax", 8, true, call("aten::log_softmax.int", in(0), -1));
}
