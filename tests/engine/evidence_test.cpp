// SPDX-License-Identifier: Apache-2.0
//
// The parts of the evidence that need no GPU: the dispatch trace, the comparison with the
// reference, margins. The simulated ROCm device's tests cover the rest.
#include "evidence/evidence.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "evidence/dispatch_trace.hpp"
#include "evidence/reference.hpp"
#include "evidence/selftest_operators.hpp"
#include "inputs.hpp"
#include "made_check.hpp"

namespace assay::tests {

namespace {

using nlohmann::json;

const c10::Device cpu{c10::DeviceType::CPU};

json compared(const at::Tensor& output, const at::Tensor& reference) {
  return engine::compare_output(output, reference, cpu, {at::kFloat}, std::nullopt);
}

template <typename... Calls>
json gathered(std::vector<input> inputs, Calls... calls) {
  const made_check made("evidence", std::move(inputs), std::move(calls)...);
  engine::register_selftest_operators(made.c_form());
  engine::bound_plan plan(made.c_form());
  const auto values = engine::make_inputs(made.c_form(), ASSAY_DTYPE_FLOAT32, cpu, 0);
  plan.set_inputs(values);
  plan.run();
  return engine::gather_evidence(plan, values,
                                 {&made.c_form(), ASSAY_DTYPE_FLOAT32, cpu, 0, false, ""});
}

}  // namespace

TEST(dispatch_trace, lists_inner_operators_with_depth_and_devices) {
  const json evidence =
      gathered({randn({4, 8}), randn({3, 8})}, call("aten::linear", in(0), in(1)));
  const json& ops = evidence["trace"]["ops"];
  ASSERT_GE(ops.size(), 2U);
  EXPECT_EQ(ops[0]["op"], "aten::linear");
  EXPECT_EQ(ops[0]["depth"], 0);
  EXPECT_EQ(ops[0]["leaf"], false);
  EXPECT_EQ(ops[1]["depth"], 1);
  for (const json& op : ops) {
    EXPECT_EQ(op["devices"], json{"cpu"}) << op;
    EXPECT_EQ(op["crosses"], false) << op;
  }
}

TEST(dispatch_trace, kernel_kinds_are_the_dispatchers) {
  EXPECT_EQ(engine::kernel_kind("aten::add.Tensor", cpu), "backend");
  EXPECT_EQ(engine::kernel_kind("aten::linear", cpu), "composite");
  EXPECT_EQ(engine::kernel_kind("aten::cudnn_convolution", cpu), "none");
  EXPECT_EQ(engine::kernel_kind("aten::no_such_operator", cpu), "none");
}

TEST(compare_output, equal_values_have_no_error) {
  const at::Tensor values = at::randn({64});
  const json record = compared(values, values.to(at::kDouble));
  EXPECT_EQ(record["normalised_error"], 0.0);
  EXPECT_EQ(record["mismatched"], 0);
  EXPECT_EQ(record["dtype_as_reference"], true);
  EXPECT_EQ(record["layout_as_reference"], true);
  EXPECT_EQ(record["expected"], nullptr);
}

TEST(compare_output, one_wrong_element_among_many_is_seen) {
  const at::Tensor reference = at::ones({10000}, at::kDouble);
  at::Tensor output = at::ones({10000});
  output[17] = 3.0;
  const json record = compared(output, reference);
  EXPECT_NEAR(record["normalised_error"].get<double>(), 2.0 / 100.0, 1e-9);
  EXPECT_NEAR(record["scaled_max_error"].get<double>(), 1.0, 1e-9);  // 2 / (1 + 1)
  EXPECT_EQ(record["max_error"], 2.0);
  EXPECT_EQ(record["mismatched"], 1);
}

TEST(compare_output, nan_and_infinity_must_match_in_place_and_sign) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::nan("");
  const at::Tensor reference = at::tensor({nan, inf, 1.0, 2.0, -inf}, at::kDouble);
  EXPECT_EQ(compared(reference.to(at::kFloat), reference)["nan_mismatched"], 0);
  EXPECT_EQ(compared(reference.to(at::kFloat), reference)["inf_mismatched"], 0);
  const json record = compared(at::tensor({nan, -inf, nan, inf, -inf}), reference);
  EXPECT_EQ(record["nan_mismatched"], 1);
  EXPECT_EQ(record["inf_mismatched"], 2);
}

TEST(compare_output, constant_and_zero_outputs_are_named) {
  const at::Tensor reference = at::arange(8, at::kDouble);
  const json zeros = compared(at::full({8}, 0.0), reference);
  EXPECT_EQ(zeros["all_zero"], true);
  EXPECT_EQ(zeros["constant"], true);
  EXPECT_EQ(zeros["reference_constant"], false);
  const json constant = compared(at::full({8}, 2.0), reference);
  EXPECT_EQ(constant["all_zero"], false);
  EXPECT_EQ(constant["constant"], true);
}

TEST(compare_output, shape_dtype_and_layout) {
  const at::Tensor reference = at::ones({2, 3}, at::kDouble);
  EXPECT_EQ(compared(at::ones({3, 2}), reference)["shape_as_reference"], false);
  EXPECT_EQ(compared(at::ones({2, 3}, at::kHalf), reference)["dtype_as_reference"], false);
  EXPECT_EQ(compared(at::ones({3, 2}).t(), reference)["layout_as_reference"], false);
  EXPECT_EQ(compared(at::ones({3, 2}).t(), reference)["expected"]["strides"], json({3, 1}));
}

TEST(compare_output, picks_may_differ_where_values_are_equal) {
  const at::Tensor values = at::tensor({1.0, 5.0, 5.0, 2.0}, at::kDouble).reshape({1, 4});
  const at::Tensor reference = at::tensor({std::int64_t{1}});
  const auto picks = [&](std::int64_t index) {
    return engine::compare_output(at::tensor({index}), reference, cpu, {at::kFloat},
                                  engine::picked_input{values, 1})["mismatched_picks"];
  };
  EXPECT_EQ(picks(1), 0);
  EXPECT_EQ(picks(2), 0);
  EXPECT_EQ(picks(3), 1);
  EXPECT_EQ(picks(9), 1);  // out of range
}

TEST(evidence, a_checks_own_reference_is_used) {
  registry plugin;
  plugin.category("made", "made by a test")
      .add(check("own", {randn({16})}, {call("aten::exp", in(0))})
               .reference({call("aten::sin", in(0))}));
  worker::registrations registrations;
  plugin.commit(worker::registrar(registrations).c_form());
  const assay_check& own = registrations.checks.front().c_form();
  engine::bound_plan plan(own);
  const auto values = engine::make_inputs(own, ASSAY_DTYPE_FLOAT32, cpu, 0);
  plan.set_inputs(values);
  plan.run();
  const json evidence =
      engine::gather_evidence(plan, values, {&own, ASSAY_DTYPE_FLOAT32, cpu, 0, false, ""});
  EXPECT_EQ(evidence["correct"]["reference"], "the check's own plan on the CPU in float64");
  EXPECT_GT(evidence["correct"]["outputs"][0]["normalised_error"].get<double>(), 0.1);
}

TEST(evidence, what_a_check_calls_incomparable_is_not_compared) {
  registry plugin;
  plugin.category("made", "made by a test")
      .add(check("own", {randn({16})}, {call("aten::exp", in(0))}).incomparable());
  worker::registrations registrations;
  plugin.commit(worker::registrar(registrations).c_form());
  const assay_check& own = registrations.checks.front().c_form();
  engine::bound_plan plan(own);
  const auto values = engine::make_inputs(own, ASSAY_DTYPE_FLOAT32, cpu, 0);
  plan.set_inputs(values);
  plan.run();
  const json correct = engine::gather_evidence(
      plan, values, {&own, ASSAY_DTYPE_FLOAT32, cpu, 0, false, ""})["correct"];
  EXPECT_EQ(correct["state"], "unknown");
  EXPECT_NE(correct["why"].get<std::string>().find("cannot be compared"), std::string::npos);
  EXPECT_TRUE(correct["outputs"].empty());
  EXPECT_EQ(correct["repeatable"], true);
}

TEST(evidence, margins_of_an_out_overload) {
  const json good = gathered({randn({32})}, call("aten::exp", in(0)));
  EXPECT_EQ(good["correct"]["margins"]["state"], "intact");
  const json bad = gathered({randn({32})}, call("assay_selftest::overrun", in(0)));
  EXPECT_EQ(bad["correct"]["margins"]["state"], "overwritten");
  const json none = gathered({randn({32})}, call("aten::layer_norm", in(0), ints{32}));
  EXPECT_EQ(none["correct"]["margins"]["state"], "unknown");
}

TEST(evidence, an_in_place_call_is_compared_on_its_first_values) {
  const json correct =
      gathered({randn({64}), randn({64})}, call("aten::add_.Tensor", in(0), in(1)))["correct"];
  EXPECT_EQ(correct["state"], "compared");
  EXPECT_EQ(correct["outputs"][0]["mismatched"], 0);
  EXPECT_EQ(correct["repeatable"], true);
}

TEST(evidence, what_draws_random_numbers_is_unknown) {
  const json drawn = gathered({randn({64})}, call("aten::native_dropout", in(0), 0.5, true));
  EXPECT_EQ(drawn["correct"]["state"], "unknown");
  EXPECT_NE(drawn["correct"]["why"].get<std::string>().find("random"), std::string::npos);
  // It may draw, and does not.
  const json attention = gathered({randn({1, 1, 8, 8})},
                                  call("aten::scaled_dot_product_attention", in(0), in(0), in(0)));
  EXPECT_EQ(attention["correct"]["state"], "compared");
}

TEST(evidence, statistics_of_a_half_type_are_kept_in_float32) {
  const made_check made("half", {randn({4, 8})},
                        call("aten::native_layer_norm", in(0), ints{8}, none, none, 1e-5));
  engine::bound_plan plan(made.c_form());
  const auto values = engine::make_inputs(made.c_form(), ASSAY_DTYPE_BFLOAT16, cpu, 0);
  plan.set_inputs(values);
  plan.run();
  const json evidence = engine::gather_evidence(
      plan, values, {&made.c_form(), ASSAY_DTYPE_BFLOAT16, cpu, 0, false, ""});
  for (const json& output : evidence["correct"]["outputs"]) {
    EXPECT_EQ(output["dtype_as_reference"], true) << output;
  }
}

TEST(evidence, an_expanded_input_and_one_that_is_only_written_cost_what_they_touch) {
  EXPECT_EQ(gathered({strided(randn({100, 8}), {0, 1})}, call("aten::sum", in(0)))["io_bytes"],
            8 * 4 + 4);
  EXPECT_EQ(gathered({randn({8}), randn({8})},
                     call("aten::relu.out", in(0), arg("out", in(1))))["io_bytes"],
            2 * 8 * 4);
}

TEST(evidence, an_unrepeatable_result_is_told) {
  EXPECT_EQ(gathered({randn({32})}, call("aten::exp", in(0)))["correct"]["repeatable"], true);
  EXPECT_EQ(
      gathered({randn({32})}, call("assay_selftest::unrepeatable", in(0)))["correct"]["repeatable"],
      false);
}

TEST(evidence, a_reference_that_cannot_run_is_unknown_with_its_reason) {
  const json evidence = gathered({randn({32})}, call("assay_test::only_float32", in(0)));
  EXPECT_EQ(evidence["correct"]["state"], "unknown");
  EXPECT_NE(evidence["correct"]["why"].get<std::string>().find("only float32"), std::string::npos);
}

}  // namespace assay::tests
