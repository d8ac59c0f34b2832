// SPDX-License-Identifier: Apache-2.0
//
// One fault a check; the names say which.
#include <assay/plugin.hpp>

using namespace assay;

namespace {

constexpr double mm_flops = 2.0 * 64 * 64 * 64;

// In one dtype, so that the test is short.
check one_call(const char* name, const input& x, const char* op) {
  return check(name, {x}, {call(op, in(0))}).dtypes({dtype::float32});
}

check mm(const char* name, std::int64_t inner = 64, std::int64_t size = 64) {
  return check(name, {randn({size, 64}), randn({inner, size})}, {call("aten::mm", in(0), in(1))})
      .dtypes({dtype::float32})
      .contracts(4, 64);
}

void add_costs(category& group, const input& x) {
  group.add(one_call("bytes_too_high", x, "aten::relu")).moves(1e8);
  group.add(one_call("bytes_too_low", x, "aten::relu")).moves(8);
  group.add(mm("flops_too_high")).matrix_flops(2 * mm_flops);
  group.add(mm("flops_too_low")).matrix_flops(mm_flops / 2);
  group.add(mm("flops_unstated")).moves(3.0 * 64 * 64);
  group.add(mm("flops_of_no_matrix")).moves(3.0 * 64 * 64).flops(mm_flops);
  group.add(one_call("flops_over_the_ceiling", x, "aten::relu")).moves(2.0 * 64 * 64).flops(1e15);
}

void add_results(category& group, const input& x) {
  group.add(one_call("wrong_reference", x, "aten::relu"))
      .dtypes({dtype::float32, dtype::float64})
      .reference({call("aten::abs", in(0))});
  group.add(one_call("reference_of_two_outputs", x, "aten::relu"))
      .reference({call("aten::chunk", in(0), 2)});
  group.add(one_call("random", x, "aten::rand_like"));
  group.add(one_call("misspelt_operator", x, "aten::rleu"));
  group.check("misspelt_argument", {x}, call("aten::gelu", in(0), arg("aproximate", "tanh")))
      .dtypes({dtype::float32});
  group.add(one_call("of_another_torch", x, "aten::planted_operator_of_no_version"));
  group.check("prints", {x}, call("planted::prints_stderr", in(0), 100)).dtypes({dtype::float32});
  group.add(one_call("leaves_thread", x, "planted::leaves_thread"));
}

void add_large_forms(category& group, const input& x) {
  group.add(mm("large_that_does_not_fit")).large(mm("", 32, 4096));
  group.add(mm("large_that_is_small")).large(mm(""));
  group.add(one_call("large_that_is_huge", x, "aten::gelu"))
      .rounds(8, 1)
      .large(one_call("", randn({65536, 65536}), "aten::gelu"));
  group.add(one_call("large_that_cannot_be_tried", x, "aten::nonzero"))
      .large(one_call("", randn({4096, 4096}), "aten::nonzero"));
}

void add_paths(category& group, const input& x) {
  const auto with = [&](const char* name, auto pattern) -> check& {
    return group.add(one_call(name, x, "aten::relu")).path("planted", fast, pattern);
  };
  with("path_never_closed", runs_kernel("*[gemm*"));
  with("path_misspelt", runs_operator("aten::rleu"));
  with("path_without_namespace", runs_operator("relu"));
  with("path_of_another_torch", runs_operator("aten::planted_operator_of_no_version"));
  with("path_taken_before", runs_operator("aten::*"))
      .path("slow", slow, runs_operator("aten::relu"));
}

}  // namespace

ASSAY_PLUGIN("faulty_checks", "1.0", "assay tests")(registry& plugin) {
  plugin.operator_library("../../planted/libplanted_operators.so");
  const input x = randn({64, 64});
  auto& group = plugin.category("faulty", "one fault a check");
  group.add(one_call("fine", x, "aten::relu"));
  add_costs(group, x);
  add_results(group, x);
  add_large_forms(group, x);
  add_paths(group, x);
}
