// SPDX-License-Identifier: Apache-2.0
#include "timing.hpp"

#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <numeric>

#include "engine_api.h"
#include "made_check.hpp"
#include "test_operators.hpp"

namespace assay::tests {

namespace {

struct timed_run {
  engine::timing_result result;
  std::vector<std::string> phases;
  std::int64_t operator_calls;
};

timed_run time_on_cpu(operator_call what, engine::timing_rules rules) {
  const made_check check("timed", {randn({1})}, std::move(what));
  engine::bound_plan plan(check.c_form());
  plan.set_inputs({at::ones({1})});
  timed_run run{{}, {}, operator_calls()};
  run.result = engine::time_plan(plan, engine::clock_of(at::kCPU), rules,
                                 [&](const char* phase) { run.phases.emplace_back(phase); });
  run.operator_calls = operator_calls() - run.operator_calls;
  return run;
}

std::vector<double> one_to(int n) {
  std::vector<double> samples(static_cast<std::size_t>(n));
  std::iota(samples.rbegin(), samples.rend(), 1.0);
  return samples;
}

const std::vector<std::string> host_phases{"first_call", "warm_up", "timed"};

}  // namespace

TEST(summarize, an_odd_count_has_a_sample_as_its_median) {
  const auto s = engine::summarize({9.0, 1.0, 2.0, 4.0, 100.0});
  EXPECT_EQ(s.median, 4.0);
  EXPECT_EQ(s.mad, 3.0);  // of 5, 3, 2, 0, 96
  EXPECT_EQ(s.minimum, 1.0);
}

TEST(summarize, an_even_count_has_the_middle_of_two) {
  const auto s = engine::summarize({4.0, 1.0, 3.0, 10.0});
  EXPECT_EQ(s.median, 3.5);
  EXPECT_EQ(s.mad, 1.5);  // of 0.5, 2.5, 0.5, 6.5
}

TEST(summarize, one_sample_and_equal_samples_have_no_spread) {
  for (const auto& samples : {std::vector<double>{5.0}, std::vector<double>(40, 5.0)}) {
    const auto s = engine::summarize(samples);
    EXPECT_EQ(s.median, 5.0);
    EXPECT_EQ(s.mad, 0.0);
    EXPECT_EQ(s.minimum, 5.0);
    EXPECT_EQ(s.half_width, 0.0);
  }
}

TEST(summarize, the_interval_follows_from_the_ranks) {
  // 100 samples: the ranks 50 -+ 9.8, that is the 40th and the 61st, counted from 1; both rounded
  // outwards.
  EXPECT_EQ(engine::summarize(one_to(100)).half_width, (61.0 - 40.0) / 2.0);
  EXPECT_EQ(engine::summarize(one_to(100)).median, 50.5);
  // Too few samples for 95 %: their whole range.
  EXPECT_EQ(engine::summarize(one_to(4)).half_width, 1.5);
}

TEST(timing, classic_makes_3_warm_up_calls_and_20_timed_ones) {
  const auto run = time_on_cpu(call("assay_test::counted", in(0)), {ASSAY_PROFILE_CLASSIC, 0.0});
  EXPECT_EQ(run.operator_calls, 23);
  EXPECT_EQ(run.result.warm_up_calls, 3);
  EXPECT_EQ(run.result.calls, 20);
  EXPECT_EQ(run.result.stop_reason, "count");
  EXPECT_EQ(run.phases, host_phases);
  EXPECT_GT(run.result.first_call_us, 0.0);
  EXPECT_GT(run.result.submit_us, 0.0);
  EXPECT_GE(run.result.wall_us, run.result.submit_us);
}

TEST(timing, the_cpu_has_no_device_time) {
  const auto run = time_on_cpu(call("assay_test::counted", in(0)), {ASSAY_PROFILE_CLASSIC, 0.0});
  EXPECT_FALSE(engine::clock_of(at::kCPU).has_device_time());
  EXPECT_FALSE(run.result.device_us.has_value());
  EXPECT_FALSE(run.result.device_spread.has_value());
}

TEST(timing, classic_has_no_cap) {
  const auto run =
      time_on_cpu(call("assay_test::sleeping", in(0), 10), {ASSAY_PROFILE_CLASSIC, 0.0});
  EXPECT_EQ(run.operator_calls, 23);
  EXPECT_GE(run.result.wall_us, 10e3);
}

TEST(timing, quick_is_classic_for_what_is_fast) {
  const auto run = time_on_cpu(call("assay_test::counted", in(0)), {ASSAY_PROFILE_QUICK, 0.0});
  EXPECT_EQ(run.operator_calls, 23);
  EXPECT_EQ(run.result.stop_reason, "count");
}

TEST(timing, quick_makes_fewer_calls_of_what_is_slow) {
  const auto run = time_on_cpu(call("assay_test::sleeping", in(0), 60), {ASSAY_PROFILE_QUICK, 0.0});
  EXPECT_EQ(run.result.calls, 3);
  EXPECT_EQ(run.operator_calls, 6);
  EXPECT_EQ(run.result.stop_reason, "time_cap");
  EXPECT_GE(run.result.wall_us, 60e3);
}

TEST(timing, measure_stops_when_the_median_is_known) {
  const auto run =
      time_on_cpu(call("assay_test::spinning", in(0), 0.5), {ASSAY_PROFILE_MEASURE, 60.0});
  EXPECT_EQ(run.result.stop_reason, "steady");
  EXPECT_EQ(run.phases, host_phases);
  ASSERT_GE(run.result.wall_samples_us.size(), 10U);
  EXPECT_TRUE(run.result.device_samples_us.empty());
  ASSERT_TRUE(run.result.wall_spread.has_value());
  EXPECT_EQ(run.result.wall_us, run.result.wall_spread->median);
  EXPECT_LE(run.result.wall_spread->half_width, 0.02 * run.result.wall_us);
  EXPECT_GE(run.result.wall_spread->minimum, 500.0);
  EXPECT_EQ(run.operator_calls, run.result.warm_up_calls + run.result.calls);
}

TEST(timing, measure_stops_at_its_time_limit) {
  const auto run = time_on_cpu(call("assay_test::unsteady", in(0)), {ASSAY_PROFILE_MEASURE, 0.3});
  EXPECT_EQ(run.result.stop_reason, "time_limit");
  EXPECT_EQ(run.operator_calls, run.result.warm_up_calls + run.result.calls);
}

TEST(timing, measure_takes_one_sample_even_when_there_is_no_time) {
  const auto run =
      time_on_cpu(call("assay_test::sleeping", in(0), 5), {ASSAY_PROFILE_MEASURE, 1e-6});
  EXPECT_EQ(run.result.stop_reason, "time_limit");
  EXPECT_EQ(run.result.wall_samples_us.size(), 1U);
  EXPECT_EQ(run.result.warm_up_calls, 4);
}

TEST(timing, measure_batches_what_is_fast) {
  const auto run = time_on_cpu(call("assay_test::counted", in(0)), {ASSAY_PROFILE_MEASURE, 60.0});
  const auto samples = static_cast<std::int64_t>(run.result.wall_samples_us.size());
  EXPECT_GE(run.result.calls / samples, 100);
  EXPECT_EQ(run.result.calls % samples, 0);
}

TEST(timing, a_batch_is_as_many_calls_as_asked) {
  const made_check check("timed", {randn({1})}, call("assay_test::spinning", in(0), 0.1));
  engine::bound_plan plan(check.c_form());
  plan.set_inputs({at::ones({1})});
  const std::int64_t before = operator_calls();
  const auto times = engine::time_batch(plan, engine::clock_of(at::kCPU), 7);
  EXPECT_EQ(operator_calls() - before, 7);
  EXPECT_GE(times.submit_us, 100.0);
  EXPECT_GE(times.wall_us, times.submit_us);
}

}  // namespace assay::tests
