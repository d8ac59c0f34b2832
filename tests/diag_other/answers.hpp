// SPDX-License-Identifier: Apache-2.0
//
// What a probe answers, as one line that a test can compare.
#pragma once

#include <assay/diagnostics.hpp>

#include <string>

namespace test {

/// "no CUDA-NO-DEVICE", "yes", "unknown"
inline std::string gist(const assay::probe_answer& answer) {
  std::string text = answer.state == assay::probe_state::yes  ? "yes"
                     : answer.state == assay::probe_state::no ? "no"
                                                              : "unknown";
  for (const std::string& finding : answer.findings) {
    text += " " + finding;
  }
  return text;
}

inline bool says(const assay::probe_answer& answer, const std::string& token) {
  return answer.fact.find(token) != std::string::npos;
}

inline std::string value_of(const assay::probe_answer& answer, const std::string& name) {
  for (const auto& [key, value] : answer.values) {
    if (key == name) {
      return value;
    }
  }
  return "";
}

}  // namespace test

#define EXPECT_SAYS(answer, token) EXPECT_TRUE(test::says(answer, token)) << (answer).fact
