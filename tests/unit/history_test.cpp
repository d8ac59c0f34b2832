// SPDX-License-Identifier: Apache-2.0
//
// assay history: a shift of the level is found and named, noise is not.
#include "host/assay/history_command.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "golden.hpp"
#include "host/assay/errors.hpp"
#include "host/store/level_shift.hpp"
#include "host/store/run_store.hpp"
#include "temp_dir.hpp"

namespace assay {
namespace {

std::vector<double> noisy(std::size_t count, double level, double noise, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> spread(0.0, noise);
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(level * std::exp(spread(random)));
  }
  return values;
}

TEST(level_shift, a_step_is_found_where_it_is) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::vector<double> values = noisy(12, 100.0, 0.01, seed);
    const std::vector<double> more = noisy(5, 115.0, 0.01, seed + 100);
    values.insert(values.end(), more.begin(), more.end());
    const auto shifts = level_shifts(values);
    ASSERT_EQ(shifts.size(), 1U) << seed;
    EXPECT_EQ(shifts[0].at, 12U);
    EXPECT_NEAR(shifts[0].after / shifts[0].before, 1.15, 0.03);
  }
}

TEST(level_shift, noise_and_a_single_outlier_are_none) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::vector<double> values = noisy(30, 50.0, 0.05, seed);
    values[17] *= 3.0;
    EXPECT_TRUE(level_shifts(values).empty()) << seed;
  }
  EXPECT_TRUE(level_shifts({}).empty());
  EXPECT_TRUE(level_shifts({1.0, 2.0}).empty());
  EXPECT_TRUE(level_shifts({1.0, 1.0, 1.0, 1.05, 1.05, 1.05}).empty()) << "below the threshold";
}

TEST(level_shift, there_and_back_are_two) {
  std::vector<double> values = noisy(8, 100.0, 0.005, 1);
  for (const auto& part : {noisy(6, 140.0, 0.005, 2), noisy(9, 100.0, 0.005, 3)}) {
    values.insert(values.end(), part.begin(), part.end());
  }
  const auto shifts = level_shifts(values);
  ASSERT_EQ(shifts.size(), 2U);
  EXPECT_EQ(shifts[0].at, 8U);
  EXPECT_EQ(shifts[1].at, 14U);
}

saved_run run_of(double gelu_us, double add_us, const std::string& torch) {
  saved_run run;
  run.started = "2026-11-30T12:00:00Z";
  run.environment = {{"LibTorch", torch}, {"cuda:0", "AMD Radeon RX 6650 XT (gfx1032)"}};
  for (const auto& [id, us] : {std::pair("activation/gelu[float32]", gelu_us),
                               std::pair("elementwise/add[float32]", add_us)}) {
    saved_check check;
    check.id = id;
    check.device = "cuda:0";
    check.status = us > 0.0 ? "ok" : "error";
    check.times.device_us = us;
    check.times.device_held = true;
    run.checks[check.device + " " + check.id] = check;
  }
  return run;
}

class history : public ::testing::Test {
 protected:
  history() {
    run_store store(file_, run_store::access::writing);
    for (int i = 0; i < 10; ++i) {
      const bool upgraded = i >= 6;
      store.save("nightly",
                 run_of((upgraded ? 14.2 : 10.1) + 0.01 * (i % 3), i == 3 ? 0.0 : 5.0,
                        upgraded ? "2.12.0+rocm7.2" : "2.11.0+rocm7.2"),
                 "");
    }
    store.save("other", run_of(10.0, 5.0, "2.11.0+rocm7.2"), "");
  }

  std::string shown(history_request request, int width = 100) {
    request.options.store = file_;
    std::ostringstream out;
    report_paper paper(out, false, width);
    EXPECT_EQ(history_command(request, paper), exit_status::ok);
    // When they were saved is now.
    std::string text = out.str();
    for (auto at = text.find("kept 20"); at != std::string::npos; at = text.find("kept 20", at)) {
      text.replace(at, 25, "kept TIME");
    }
    const auto line = text.find('\n');
    return text.starts_with("id,") ? text : text.substr(0, text.find(", ")) + text.substr(line);
  }

  testing::temp_dir dir_;
  std::filesystem::path file_ = dir_.path() / "runs.sqlite";
};

TEST_F(history, the_run_at_which_the_level_shifted_is_named) {
  history_request request;
  request.name = "nightly";
  testing_support::expect_golden("history.txt", shown(request));
}

TEST_F(history, globs_choose_and_what_matches_nothing_is_said) {
  history_request request;
  request.globs = {"elementwise"};
  EXPECT_EQ(shown(request).find("gelu"), std::string::npos);
  request.globs = {"activation/gela"};
  EXPECT_THROW(shown(request), usage_error);
  request.globs.clear();
  request.name = "nightli";
  EXPECT_THROW(shown(request), usage_error);
}

TEST_F(history, csv_has_a_line_for_each_check_and_run) {
  history_request request;
  request.csv = true;
  const std::string text = shown(request);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + 22);
  EXPECT_NE(text.find("activation/gelu[float32],cuda:0,nightly,7,"), std::string::npos);
  EXPECT_NE(text.find(",error,,,,\r\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace assay
