// SPDX-License-Identifier: Apache-2.0
#include "host/assay/tally.hpp"

#include <gtest/gtest.h>

#include "evidence_run.hpp"
#include "host/assay/errors.hpp"

namespace assay {
namespace {

using namespace testing_support;

tally of_one(const std::string& second_status, const std::string& phase,
             const std::string& verdict) {
  const json line = timed_result();
  tally counts;
  counts.checks = 1;
  counts.add_result(line);
  json evidence = gathered_of(nullptr);
  evidence.update({{"status", second_status.empty() ? json() : json(second_status)},
                   {"phase", phase},
                   {"verdict", {{"verdict", verdict}}}});
  counts.add_verdict(evidence, line);
  return counts;
}

TEST(tally_test, what_watching_a_check_came_to_is_counted) {
  const tally counts = of_one("crash", "evidence", "unknown");
  EXPECT_EQ(counts.crashes, 1);
  EXPECT_EQ(counts.exit_status(), exit_status::tool);
  EXPECT_NE(counts.text(1.0).find("1 crashes | 0 timeouts | 1 of these while gathering evidence"),
            std::string::npos)
      << counts.text(1.0);
  EXPECT_EQ(counts.summary(1.0)["watching_failed"], 1);
  EXPECT_EQ(of_one("timeout", "evidence", "unknown").timeouts, 1);
}

TEST(tally_test, a_check_that_fails_the_second_time_is_a_failed_check) {
  const tally counts = of_one("crash", "first_call", "fail");
  EXPECT_EQ(counts.crashes, 1);
  EXPECT_EQ(counts.watching_failed, 0);
  EXPECT_EQ(counts.exit_status(), exit_status::failed);
}

TEST(tally_test, a_second_run_that_ends_well_changes_nothing) {
  for (const char* status : {"ok", ""}) {
    const tally counts = of_one(status, "done", "pass");
    EXPECT_EQ(counts.crashes + counts.errors + counts.timeouts, 0);
    EXPECT_EQ(counts.exit_status(), exit_status::ok);
  }
}

}  // namespace
}  // namespace assay
