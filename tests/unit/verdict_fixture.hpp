// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "evidence_run.hpp"
#include "host/assay/verdict.hpp"

namespace assay {

#define EXPECT_HAS(text, part) \
  EXPECT_NE(std::string(text).find(part), std::string::npos) << (text) << "\nlacks: " << (part)

/// A clean run, of which a test changes one thing.
class verdict_test : public ::testing::Test {
 protected:
  testing_support::json judged() {
    return judge({check_, result_, gathered_, ceilings_, baseline_, device_name_, architecture_});
  }
  testing_support::json& evidence() { return gathered_["evidence"]; }
  std::string state_of(const std::string& link) { return judged()["links"][link]["state"]; }
  std::string why_of(const std::string& link) { return judged()["links"][link]["why"]; }

  void on_the_cpu() {
    result_["device"] = "cpu";
    result_["outputs"][0]["device"] = "cpu";
    result_["timing"] = testing_support::timing(38.0, 40.0, nullptr, 100.0);
    evidence()["trace"] = testing_support::trace_of(testing_support::json::array(
        {testing_support::traced("aten::gelu", 0, {{"devices", {"cpu"}}})}));
    evidence()["profiler"] = {{"state", "unknown"}, {"why", "the CPU has no device kernels"}};
  }

  testing_support::json check_ = testing_support::check_record();
  testing_support::json result_ = testing_support::timed_result();
  testing_support::json gathered_ = testing_support::gathered_of(testing_support::evidence_of());
  testing_support::json ceilings_ = testing_support::ceilings_record();
  testing_support::json baseline_;
  std::string device_name_ = "AMD Radeon RX 7900 XTX";
  std::string architecture_ = "gfx1100";
};

}  // namespace assay
