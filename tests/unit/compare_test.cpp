// SPDX-License-Identifier: Apache-2.0
#include "host/results/compare.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "host/assay/compare_command.hpp"
#include "host/assay/errors.hpp"
#include "host/results/rank_test.hpp"

namespace assay {
namespace {

saved_check check_named(const std::string& name) {
  saved_check check;
  check.id = "c/" + name + "[float32]";
  check.device = "cuda:0";
  check.status = "ok";
  check.verdict = "pass";
  check.path = "flash";
  check.sizes = "classic";
  check.io_bytes = 64.0;
  check.normalised_error = 1e-7;
  for (const char* link : {"ran", "on_device", "no_fallback", "correct", "path", "speed"}) {
    check.links[link] = {"pass", ""};
  }
  return check;
}

saved_run run_of(const std::vector<saved_check>& checks) {
  saved_run run;
  run.environment = {{"LibTorch", "2.11.0"}, {"cuda:0", "a GPU (gfx1032)"}};
  run.architectures = {{"cuda:0", "gfx1032"}};
  for (const saved_check& check : checks) {
    run.checks[check.device + " " + check.id] = check;
  }
  return run;
}

std::vector<double> samples(double median, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(median, median * 0.01);
  std::vector<double> values;
  for (int i = 0; i < 30; ++i) {
    values.push_back(noise(random));
  }
  return values;
}

saved_check timed(const std::string& name, double median, unsigned seed) {
  saved_check check = check_named(name);
  check.times.wall_us = median;
  check.times.wall_samples_us = samples(median, seed);
  return check;
}

comparison compared(const std::vector<saved_check>& before, const std::vector<saved_check>& after,
                    const regression_rules& rules = {}) {
  return compare({run_of(before)}, {run_of(after)}, rules);
}

TEST(compare, nothing_changed) {
  const comparison found = compared({check_named("a")}, {check_named("a")});
  EXPECT_FALSE(found.regression);
  EXPECT_TRUE(found.environment.empty());
  EXPECT_TRUE(found.links.empty());
  EXPECT_EQ(found.checks_in_both, 1U);
}

TEST(compare, checks_that_fail_are_mended_appear_and_vanish) {
  saved_check failing = check_named("a");
  failing.status = "error";
  failing.error = "no such kernel";
  const comparison broken =
      compared({check_named("a"), check_named("b")}, {failing, check_named("c")});
  ASSERT_EQ(broken.broken.size(), 1U);
  EXPECT_EQ(broken.broken[0].after, "error: no such kernel");
  EXPECT_EQ(broken.vanished.at(0).id, "c/b[float32]");
  EXPECT_EQ(broken.appeared.at(0).id, "c/c[float32]");
  EXPECT_TRUE(broken.regression);
  const comparison mended = compared({failing}, {check_named("a")});
  EXPECT_EQ(mended.mended.size(), 1U);
  EXPECT_FALSE(mended.regression);
  EXPECT_EQ(compared({failing}, {failing}).still_failing.size(), 1U);
  EXPECT_FALSE(compared({failing}, {failing}).regression);
  saved_check skipped = check_named("a");
  skipped.status = "skipped";
  EXPECT_EQ(compared({check_named("a")}, {skipped}).no_longer_run.size(), 1U);
}

TEST(compare, a_check_that_was_not_asked_for_is_no_loss) {
  saved_run after = run_of({});
  after.not_selected["c/a"] = "--enable";
  const comparison found = compare({run_of({check_named("a")})}, {after}, {});
  EXPECT_EQ(found.not_asked_for.size(), 1U);
  EXPECT_FALSE(found.regression);
}

TEST(compare, a_failing_verdict_is_a_failure_too) {
  saved_check wrong = check_named("a");
  wrong.verdict = "fail";
  wrong.links["correct"] = {"fail", "error 0.01"};
  const comparison found = compared({check_named("a")}, {wrong});
  EXPECT_EQ(found.broken.at(0).after, "fail, correct: error 0.01");
  ASSERT_EQ(found.links.size(), 1U);
  EXPECT_TRUE(found.links[0].regression);
}

TEST(compare, another_path_is_named) {
  saved_check math = check_named("sdpa");
  math.path = "math";
  math.links["path"] = {"warn", "math is a slow path"};
  const comparison found = compared({check_named("sdpa")}, {math});
  ASSERT_EQ(found.links.size(), 1U);
  EXPECT_EQ(found.links[0].before, "flash, pass");
  EXPECT_EQ(found.links[0].after, "math, warn: math is a slow path");
  EXPECT_TRUE(found.regression);
  saved_check efficient = check_named("sdpa");
  efficient.path = "efficient";
  const comparison same_grade = compared({check_named("sdpa")}, {efficient});
  EXPECT_EQ(same_grade.links.at(0).after, "efficient");
  EXPECT_FALSE(same_grade.regression);
}

TEST(compare, an_error_that_grew_within_its_bound_is_told) {
  saved_check other = check_named("a");
  other.normalised_error = 9e-7;
  const comparison found = compared({check_named("a")}, {other});
  EXPECT_EQ(found.links.at(0).after, "error 9e-07");
  EXPECT_FALSE(found.regression);
}

TEST(compare, only_what_fail_on_names_is_a_regression) {
  saved_check math = check_named("sdpa");
  math.links["path"] = {"warn", "slow"};
  EXPECT_FALSE(compared({check_named("sdpa")}, {math}, parse_fail_on({"error"})).regression);
  EXPECT_TRUE(compared({check_named("sdpa")}, {math}, parse_fail_on({"path"})).regression);
  EXPECT_FALSE(compared({check_named("sdpa")}, {math}, parse_fail_on({"none"})).regression);
  EXPECT_EQ(parse_fail_on({"slower=25%"}).slower_percent, 25.0);
  EXPECT_THROW(parse_fail_on({"slower=x"}), usage_error);
  EXPECT_THROW(parse_fail_on({"slower=0.1"}), usage_error);
  EXPECT_THROW(parse_fail_on({"pfad"}), usage_error);
  EXPECT_THROW(parse_fail_on({"none", "error"}), usage_error);
}

TEST(compare, one_slower_check_among_many_is_found) {
  std::vector<saved_check> before;
  std::vector<saved_check> after;
  for (unsigned i = 0; i < 20; ++i) {
    const std::string name = "x" + std::to_string(i);
    before.push_back(timed(name, 100.0 + i, i));
    // All of them 5 % slower: the machine's doing.
    after.push_back(timed(name, (100.0 + i) * 1.05 * (i == 7 ? 1.15 : 1.0), 100 + i));
  }
  const comparison found = compared(before, after);
  EXPECT_EQ(found.times_tested, 20U);
  ASSERT_EQ(found.slower.size(), 1U);
  EXPECT_EQ(found.slower[0].id, "c/x7[float32]");
  EXPECT_NEAR(found.slower[0].ratio, 1.15, 0.02);
  EXPECT_NEAR(found.common_ratio.value_or(0.0), 1.05, 0.01);
  EXPECT_TRUE(found.regression);
  EXPECT_TRUE(compared(after, before).slower.empty());
  EXPECT_EQ(compared(after, before).faster.size(), 1U);
  EXPECT_FALSE(compared(before, after, parse_fail_on({"error"})).regression);
}

// One run and the next differ in any check: what does not stick out of that is no finding.
TEST(compare, what_the_runs_differ_by_anyway_is_not_slower) {
  const auto found_with = [](double scatter) {
    std::mt19937 random(1);
    std::normal_distribution<double> spread(0.0, scatter);
    std::vector<saved_check> before;
    std::vector<saved_check> after;
    for (unsigned i = 0; i < 30; ++i) {
      const std::string name = "x" + std::to_string(i);
      before.push_back(timed(name, 100.0, i));
      after.push_back(timed(name, 100.0 * (i == 7 ? 1.12 : std::exp(spread(random))), 100 + i));
    }
    return compared(before, after);
  };
  const comparison quiet = found_with(0.002);
  ASSERT_EQ(quiet.slower.size(), 1U);
  EXPECT_EQ(quiet.slower[0].id, "c/x7[float32]");
  EXPECT_NEAR(quiet.least_percent, 5.0, 0.01);
  const comparison noisy = found_with(0.05);
  EXPECT_TRUE(noisy.slower.empty());
  EXPECT_NEAR(noisy.scatter_percent.value_or(0.0), 5.0, 2.0);
  EXPECT_GT(noisy.least_percent, 12.0);
}

TEST(compare, all_checks_slower_together_are_a_regression) {
  std::vector<saved_check> before;
  std::vector<saved_check> after;
  for (unsigned i = 0; i < 12; ++i) {
    before.push_back(timed("x" + std::to_string(i), 100.0, i));
    after.push_back(timed("x" + std::to_string(i), 130.0, 50 + i));
  }
  const comparison found = compared(before, after);
  EXPECT_TRUE(found.slower.empty());
  EXPECT_TRUE(found.regression);
}

TEST(compare, without_samples_a_difference_proves_nothing) {
  saved_check before = check_named("a");
  before.times.wall_us = 10.0;
  saved_check after = before;
  after.times.wall_us = 20.0;
  const comparison found = compared({before}, {after});
  EXPECT_EQ(found.times_untested, 1U);
  EXPECT_EQ(found.suspicious.size(), 1U);
  EXPECT_FALSE(found.regression);
}

TEST(compare, several_runs_a_side_are_samples) {
  const auto runs = [](double wall_us) {
    std::vector<saved_run> list;
    for (int i = 0; i < 8; ++i) {
      saved_check check = check_named("a");
      check.times.wall_us = wall_us + 0.01 * i;
      list.push_back(run_of({check}));
    }
    return list;
  };
  EXPECT_EQ(compare(runs(10.0), runs(12.0), {}).slower.size(), 1U);
  EXPECT_TRUE(compare(runs(10.0), runs(10.0), {}).slower.empty());
}

TEST(compare, times_of_other_inputs_or_devices_are_not_compared) {
  const saved_check before = timed("a", 10.0, 1);
  saved_check after = timed("a", 30.0, 2);
  after.io_bytes = 128.0;
  const comparison sizes = compared({before}, {after});
  EXPECT_TRUE(sizes.slower.empty());
  EXPECT_EQ(sizes.times_not_compared.size(), 1U);
  saved_run other = run_of({timed("a", 30.0, 2)});
  other.environment[1].second = "another GPU (gfx1100)";
  other.architectures["cuda:0"] = "gfx1100";
  EXPECT_TRUE(compare({run_of({before})}, {other}, {}).slower.empty());
  saved_run old = run_of({before});
  old.copy_gb_per_s["cuda:0"] = 100.0;
  other.copy_gb_per_s["cuda:0"] = 50.0;
  regression_rules rules;
  rules.across_devices = true;
  const comparison across = compare({old}, {other}, rules);
  ASSERT_EQ(across.slower.size(), 1U);
  EXPECT_NEAR(across.slower[0].ratio, 1.5, 0.05);  // 3 x the time at half the bandwidth
}

TEST(compare, environments_that_differ) {
  saved_run after = run_of({});
  after.environment[0].second = "2.12.0";
  after.environment.emplace_back("plugin x", "1.0");
  const comparison found = compare({run_of({})}, {after}, {});
  ASSERT_EQ(found.environment.size(), 2U);
  EXPECT_EQ(found.environment[0].name, "LibTorch");
  EXPECT_EQ(found.environment[0].after, "2.12.0");
  EXPECT_EQ(found.environment[1].before, "");
}

// Reference values: U and p of the normal approximation with continuity correction, by hand.
TEST(rank_test, known_values) {
  EXPECT_FALSE(rank_test_p({1, 2, 3}, {4, 5, 6, 7}));
  EXPECT_FALSE(rank_test_p({1, 1, 1, 1}, {1, 1, 1, 1}));
  // U = 0, mean 8, sd sqrt(4 * 4 * 9 / 12): z = 7.5 / 3.4641.
  EXPECT_NEAR(rank_test_p({1, 2, 3, 4}, {5, 6, 7, 8}).value_or(0.0), 0.030383, 1e-5);
  EXPECT_NEAR(rank_test_p({1, 3, 5, 7}, {2, 4, 6, 8}).value_or(0.0), 0.665006, 1e-5);
  EXPECT_NEAR(rank_test_p({1, 2, 2, 3}, {2, 3, 3, 4}).value_or(0.0), 0.172034, 1e-5);
}

TEST(rank_test, holm) {
  EXPECT_EQ(holm_adjusted({0.01, 0.04, 0.03}), (std::vector<double>{0.03, 0.06, 0.06}));
  EXPECT_EQ(holm_adjusted({0.9, 0.8}), (std::vector<double>{1.0, 1.0}));
  EXPECT_EQ(median_of({3, 1, 2}), 2.0);
  EXPECT_EQ(median_of({4, 1, 2, 3}), 2.5);
}

}  // namespace
}  // namespace assay
