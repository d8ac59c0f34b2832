// SPDX-License-Identifier: Apache-2.0
#include "harness_benchmark.hpp"

#include <ATen/core/List.h>
#include <ATen/ops/ones.h>
#include <benchmark/benchmark.h>

#include <memory>
#include <utility>

#include "paired_times.hpp"
#include "tests/engine/made_check.hpp"

namespace assay::benchmarks {

namespace {

using torch::jit::Stack;

c10::OperatorHandle operator_of(const char* name, const char* overload = "") {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, overload);
}

// The bare loop: prepared values onto a stack that is used again, and the boxed call.
auto bare(c10::OperatorHandle op, std::vector<c10::IValue> arguments) {
  return [op, arguments = std::move(arguments), stack = Stack()]() mutable {
    stack.clear();
    stack.insert(stack.end(), arguments.begin(), arguments.end());
    op.callBoxed(stack);
  };
}

template <typename Bare>
void compare(const std::string& name, std::vector<at::Tensor> inputs, tests::made_check made,
             Bare bare_call) {
  auto check = std::make_shared<tests::made_check>(std::move(made));
  benchmark::RegisterBenchmark(
      ("harness/" + name).c_str(),
      [check, inputs, bare_call](benchmark::State& state) mutable {
        engine::bound_plan plan(check->c_form());
        plan.set_inputs(inputs);
        const auto ours = [&](std::int64_t calls) { return time_plan_calls(plan, calls); };
        const auto theirs = [&](std::int64_t calls) { return time_calls(calls, bare_call); };
        run_paired(state, "harness_ns", ours, "bare_ns", theirs);
      })
      ->UseManualTime()
      ->Iterations(1);
}

}  // namespace

void register_harness_benchmarks() {
  const at::Tensor x = at::ones({1});
  const at::Tensor image = at::ones({1, 1, 2, 2});
  const at::Tensor matrix = at::ones({1, 1});
  const c10::IValue none_value;

  compare("relu_1_argument", {x}, {"relu", {randn({1})}, call("aten::relu", in(0))},
          bare(operator_of("aten::relu"), {x}));
  compare("add_3_arguments", {x, x},
          {"add", {randn({1}), randn({1})}, call("aten::add.Tensor", in(0), in(1))},
          bare(operator_of("aten::add", "Tensor"), {x, x, c10::Scalar(1)}));
  compare("batch_norm_9_arguments", {image},
          {"batch_norm",
           {randn({1})},
           call("aten::batch_norm", in(0), none, none, none, none, true, 0.1, 1e-5, true)},
          bare(operator_of("aten::batch_norm"),
               {image, none_value, none_value, none_value, none_value, true, 0.1, 1e-5, true}));

  const c10::IValue pair_of_ones(std::vector<std::int64_t>{1, 1});
  compare("conv2d_3_int_lists", {image, image},
          {"conv2d",
           {randn({1}), randn({1})},
           call("aten::conv2d", in(0), in(1), none, 1, ints{1, 1}, 1, 1)},
          bare(operator_of("aten::conv2d"), {image, image, none_value, pair_of_ones, pair_of_ones,
                                             pair_of_ones, std::int64_t{1}}));

  c10::List<at::Tensor> both;
  both.push_back(x);
  both.push_back(x);
  compare("cat_list", {x, x},
          {"cat", {randn({1}), randn({1})}, call("aten::cat", list({in(0), in(1)}))},
          bare(operator_of("aten::cat"), {both, std::int64_t{0}}));

  compare("two_calls", {matrix},
          {"two_calls", {randn({1})}, call("aten::t", in(0)), call("aten::relu", result(0))},
          [first = operator_of("aten::t"), second = operator_of("aten::relu"),
           input = c10::IValue(matrix), a = Stack(), b = Stack()]() mutable {
            a.clear();
            a.push_back(input);
            first.callBoxed(a);
            b.clear();
            b.push_back(a[0]);
            second.callBoxed(b);
          });
}

}  // namespace assay::benchmarks
