// SPDX-License-Identifier: Apache-2.0
//
// How often the rules are right on real failures: ASSAY_TEST_CORPUS names a file of JSON lines with
// `log` and `class` each (and `id`, for people).
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "explained.hpp"

namespace {

using namespace assay::testing;

constexpr double least_right = 95.0;      // per cent of the answers
constexpr double most_unanswered = 10.0;  // per cent of the failures

TEST(corpus, right_wrong_unanswered) {
  const char* const name = std::getenv("ASSAY_TEST_CORPUS");
  if (name == nullptr || *name == '\0') {
    GTEST_SKIP() << "ASSAY_TEST_CORPUS names no file of real failures";
  }
  std::ifstream in(name);
  ASSERT_TRUE(in) << name << " cannot be read";
  int all = 0;
  int right = 0;
  int unanswered = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.empty()) {
      continue;
    }
    const auto failure = nlohmann::json::parse(line);
    const std::string expected = failure.at("class").get<std::string>();
    const explanation e = explain_text(failure.at("log").get<std::string>());
    const std::string given = e.klass();
    ++all;
    if (given == expected) {
      ++right;
      continue;
    }
    unanswered += e.recognised() ? 0 : 1;
    std::printf("%-8s %s: %s, not %s\n", e.recognised() ? "wrong" : "unknown",
                failure.value("id", "?").c_str(), expected.c_str(), given.c_str());
    EXPECT_FALSE(e.is_certain()) << failure.value("id", "?") << "\n" << e.all();
  }
  ASSERT_GT(all, 0) << name << " holds no failure";
  const int answered = all - unanswered;
  const double right_share = answered == 0 ? 0.0 : 100.0 * right / answered;
  const double unanswered_share = 100.0 * unanswered / all;
  std::printf(
      "%d failures: %d right, %d wrong, %d unanswered; %.1f %% of the answers are right, "
      "%.1f %% unanswered\n",
      all, right, answered - right, unanswered, right_share, unanswered_share);
  EXPECT_GE(right_share, least_right);
  EXPECT_LE(unanswered_share, most_unanswered);
}

}  // namespace
