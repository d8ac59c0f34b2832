// SPDX-License-Identifier: Apache-2.0
#include "host/assay/schedule.hpp"

#include <gtest/gtest.h>

#include "evidence_run.hpp"
#include "host/assay/result_record.hpp"
#include "host/assay/tally.hpp"

namespace assay {
namespace {

using testing_support::json;

catalogue two_checks() {
  catalogue all;
  all.plugins = {{{"status", "loaded"}, {"id", "activation"}, {"accelerator", "any"}}};
  json small = testing_support::check_record({{"check", "activation/small"}, {"name", "small"}});
  json both = testing_support::check_record({{"large", {{"cost", nullptr}}}});
  all.checks = {std::move(small), std::move(both)};
  return all;
}

std::vector<planned_check> planned(const run_options& options,
                                   const std::vector<std::string>& devices) {
  return make_schedule(two_checks(), options, devices, testing_support::engine_record()).checks;
}

TEST(schedule_test, a_baseline_comes_first_and_is_marked) {
  run_options options;
  options.baseline = "cpu";
  const auto checks = planned(options, {"cuda:0", "cuda:1"});
  ASSERT_EQ(checks.size(), 6U);
  for (std::size_t i = 0; i < checks.size(); ++i) {
    EXPECT_EQ(checks[i].baseline, i < 2) << i;
    EXPECT_EQ(checks[i].device == "cpu", i < 2) << i;
  }
  for (const planned_check& check : planned(options, {"cpu", "cuda:0"})) {
    EXPECT_FALSE(check.baseline) << "the CPU was asked for itself";
  }
  options.baseline.clear();
  EXPECT_EQ(planned(options, {"cuda:0"}).size(), 2U);
}

TEST(schedule_test, large_sizes_are_for_measuring_a_gpu) {
  run_options options;
  const auto large = [&](const std::vector<std::string>& devices) {
    std::string found;
    for (const planned_check& check : planned(options, devices)) {
      found += check.large ? 'L' : 'c';
    }
    return found;
  };
  EXPECT_EQ(large({"cuda:0"}), "cc");
  options.profile = "measure";
  EXPECT_EQ(large({"cuda:0"}), "cL") << "only where the check has a large form";
  EXPECT_EQ(large({"cpu"}), "cc");
  EXPECT_EQ(large({"cpu", "cuda:0"}), "cccL");
  options.baseline = "cpu";
  EXPECT_EQ(large({"cuda:0"}), "cLcL") << "compared at the same sizes";
  EXPECT_EQ(large({"cpu"}), "cc");
  options.baseline.clear();
  options.evidence = false;
  EXPECT_EQ(large({"cuda:0"}), "cc");
  options.sizes = "large";
  EXPECT_EQ(large({"cpu"}), "cL");
  options.evidence = true;
  options.sizes = "classic";
  EXPECT_EQ(large({"cuda:0"}), "cc");
}

TEST(schedule_test, the_checks_own_dtype_is_known) {
  run_options options;
  options.dtypes = {"float16", "float32"};
  for (const planned_check& check : planned(options, {"cuda:0"})) {
    EXPECT_EQ(check.own_dtype, check.dtype == "float32");
  }
}

json failed_result(const std::string& type, const std::string& message) {
  return testing_support::timed_result(
      {{"status", "error"}, {"error", {{"type", type}, {"message", message}, {"trace", nullptr}}}});
}

TEST(result_record_test, a_dtype_that_the_device_lacks_is_skipped) {
  planned_check check;
  const auto status = [&](const std::string& type, const std::string& message) {
    json result = failed_result(type, message);
    skip_unsupported_dtype(result, check);
    return result["status"].get<std::string>();
  };
  const std::string lacking = R"("topk" not implemented for 'BFloat16')";
  check.own_dtype = false;
  EXPECT_EQ(status("c10::NotImplementedError", "no half here"), "skipped");
  EXPECT_EQ(status("std::runtime_error", lacking), "skipped");
  EXPECT_EQ(status("c10::Error", "expected m1 and m2 to have the same dtype"), "error");
  EXPECT_EQ(status("c10::NotImplementedError", "Could not run 'aten::topk' with arguments from"),
            "error")
      << "that is lacking in every dtype";
  check.own_dtype = true;
  EXPECT_EQ(status("c10::NotImplementedError", lacking), "error");
}

TEST(tally_test, a_failed_verdict_fails_the_run_and_a_warning_does_not) {
  const json fine = testing_support::timed_result();
  const auto status_with = [&](const std::vector<std::string>& verdicts) {
    tally sum;
    for (const std::string& word : verdicts) {
      ++sum.checks;
      sum.add_result(fine);
      sum.add_verdict({{"verdict", {{"verdict", word}}}}, fine);
    }
    EXPECT_EQ(sum.on_device, sum.checks);
    return sum.exit_status();
  };
  EXPECT_EQ(status_with({"pass", "warn", "unknown"}), 0);
  EXPECT_EQ(status_with({"pass", "fail"}), 1);
  tally sum;
  const json error = failed_result("c10::Error", "x");
  sum.add_result(error);
  sum.add_verdict({{"verdict", {{"verdict", "fail"}}}}, error);
  EXPECT_EQ(sum.failed, 1) << "one check fails once";
  EXPECT_EQ(sum.summary(1.0)["verdicts"],
            json({{"pass", 0}, {"warn", 0}, {"fail", 1}, {"unknown", 0}}));
  EXPECT_TRUE(tally().summary(1.0)["verdicts"].is_null());
}

}  // namespace
}  // namespace assay
