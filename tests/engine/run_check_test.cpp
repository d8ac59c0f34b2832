// SPDX-License-Identifier: Apache-2.0
//
// One check from its libraries to its result: statuses, phases, errors and warnings.
#include "run_check.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "made_check.hpp"
#include "test_operators.hpp"

namespace assay::tests {

namespace {

using nlohmann::json;

struct outcome {
  json record;
  std::vector<std::string> phases;
};

template <typename... Calls>
outcome run(std::vector<input> inputs, std::vector<const char*> libraries, Calls... calls) {
  const made_check check("run", std::move(inputs), std::move(calls)...);
  outcome ran;
  assay_engine_job job{};
  job.struct_size = sizeof job;
  job.profile = ASSAY_PROFILE_CLASSIC;
  job.check = &check.c_form();
  job.dtype = ASSAY_DTYPE_FLOAT32;
  job.device = "cpu";
  job.measure_limit_s = 1.0;
  job.libraries = libraries.data();
  job.library_count = static_cast<std::uint32_t>(libraries.size());
  job.context = &ran;
  job.phase = [](void* context, const char* name) {
    static_cast<outcome*>(context)->phases.emplace_back(name);
  };
  ran.record = engine::run_check(job);
  return ran;
}

template <typename... Calls>
outcome run(Calls... calls) {
  return run({randn({2, 3})}, {}, std::move(calls)...);
}

const std::vector<std::string> all_phases{"library",    "bind",    "inputs",
                                          "first_call", "warm_up", "timed"};

}  // namespace

TEST(run_check, a_good_check) {
  const auto [record, phases] = run(call("aten::max.dim", in(0), 1));
  EXPECT_EQ(record["status"], "ok");
  EXPECT_EQ(record["phase"], "done");
  EXPECT_EQ(record["error"], nullptr);
  EXPECT_EQ(record["poisoned"], false);
  EXPECT_EQ(record["warnings"], json::array());
  EXPECT_EQ(phases, all_phases);
  ASSERT_EQ(record["outputs"].size(), 2U);
  EXPECT_EQ(record["outputs"][0],
            json({{"device", "cpu"}, {"dtype", "float32"}, {"shape", {2}}, {"strides", {1}}}));
  EXPECT_EQ(record["outputs"][1]["dtype"], "int64");
  EXPECT_EQ(record["timing"]["profile"], "classic");
  EXPECT_EQ(record["timing"]["calls"], 20);
  EXPECT_EQ(record["timing"]["device_us"], nullptr);
  EXPECT_EQ(record["timing"]["device_basis"], nullptr);
}

TEST(run_check, a_missing_operator_is_skipped) {
  const auto [record, phases] = run(call("aten::sigmoyd", in(0)));
  EXPECT_EQ(record["status"], "skipped");
  EXPECT_EQ(record["phase"], "bind");
  EXPECT_EQ(record["error"]["type"], "missing_operator");
  EXPECT_EQ(record["error"]["message"],
            "this LibTorch has no operator aten::sigmoyd; did you mean 'aten::sigmoid'?");
  EXPECT_EQ(record["error"]["trace"], nullptr);
  EXPECT_EQ(phases, (std::vector<std::string>{"library", "bind"}));
}

TEST(run_check, a_plan_that_cannot_be_bound) {
  const auto [record, phases] = run(call("aten::relu", in(0), 1));
  EXPECT_EQ(record["status"], "error");
  EXPECT_EQ(record["phase"], "bind");
  EXPECT_EQ(record["error"]["type"], "plan_error");
  EXPECT_EQ(record["timing"], nullptr);
  EXPECT_EQ(record["outputs"], json::array());
}

TEST(run_check, an_input_that_cannot_be_made) {
  const auto [record, phases] = run({randn({2}, dtype::int64)}, {}, call("aten::relu", in(0)));
  EXPECT_EQ(record["status"], "error");
  EXPECT_EQ(record["phase"], "inputs");
  EXPECT_EQ(record["error"]["type"], "plan_error");
}

TEST(run_check, an_operator_library_that_does_not_open) {
  const auto [record, phases] =
      run({randn({2})}, {"/nowhere/libmissing.so"}, call("aten::relu", in(0)));
  EXPECT_EQ(record["status"], "error");
  EXPECT_EQ(record["phase"], "library");
  const std::string message = record["error"]["message"];
  EXPECT_TRUE(message.starts_with("the operator library")) << message;
  EXPECT_EQ(phases, std::vector<std::string>{"library"});
}

TEST(run_check, an_error_of_libtorch_keeps_message_and_trace_apart) {
  const auto [record, phases] = run(call("assay_test::throwing", in(0), "c10"));
  EXPECT_EQ(record["status"], "error");
  EXPECT_EQ(record["phase"], "first_call");
  EXPECT_EQ(record["error"]["type"], "c10::Error");
  EXPECT_EQ(record["error"]["message"], "a planted c10 error");
  ASSERT_TRUE(record["error"]["trace"].is_string());
  EXPECT_EQ(record["poisoned"], false);
  EXPECT_EQ(phases.back(), "first_call");
}

TEST(run_check, a_standard_exception) {
  const auto [record, phases] = run(call("assay_test::throwing", in(0), "std"));
  EXPECT_EQ(record["status"], "error");
  EXPECT_EQ(record["error"], json({{"type", "std::out_of_range"},
                                   {"message", "a planted standard error"},
                                   {"trace", nullptr}}));
}

TEST(run_check, something_else_is_thrown) {
  const auto [record, phases] = run(call("assay_test::throwing", in(0), "int"));
  EXPECT_EQ(record["status"], "error");
  EXPECT_EQ(record["phase"], "first_call");
  EXPECT_EQ(record["error"]["type"], "unknown");
}

TEST(run_check, an_error_after_the_first_call) {
  if (operator_calls() % 2 == 1) {
    run(call("assay_test::failing_later", in(0)));
  }
  const auto [record, phases] = run(call("assay_test::failing_later", in(0)));
  EXPECT_EQ(record["status"], "error");
  EXPECT_EQ(record["phase"], "warm_up");
}

TEST(run_check, an_error_of_an_operator_is_told_in_its_own_words) {
  const auto [record, phases] =
      run({randn({2, 3}), randn({2, 3})}, {}, call("aten::mm", in(0), in(1)));
  EXPECT_EQ(record["error"]["type"], "c10::Error");
  const std::string message = record["error"]["message"];
  EXPECT_NE(message.find("mat1 and mat2 shapes cannot be multiplied"), std::string::npos)
      << message;
}

TEST(run_check, a_warning_stands_once_with_its_count) {
  const auto [record, phases] = run(call("assay_test::warning", in(0)));
  EXPECT_EQ(record["status"], "ok");
  ASSERT_EQ(record["warnings"].size(), 1U);
  EXPECT_EQ(record["warnings"][0]["text"], "this operator warns");
  EXPECT_EQ(record["warnings"][0]["count"], 23);
  const std::string source = record["warnings"][0]["source"];
  EXPECT_NE(source.find("test_operators.cpp:"), std::string::npos) << source;
}

TEST(run_check, a_warning_that_comes_once_in_a_process_comes_in_each_check) {
  for (int i = 0; i < 2; ++i) {
    const auto [record, phases] = run(call("assay_test::warning_once", in(0)));
    ASSERT_EQ(record["warnings"].size(), 1U) << i;
    EXPECT_EQ(record["warnings"][0]["text"], "this operator warns once");
    // Always in the first call, and in no later one but that which spends LibTorch's own "once".
    EXPECT_LE(record["warnings"][0]["count"], 2);
  }
  EXPECT_FALSE(c10::WarningUtils::get_warnAlways());
}

TEST(run_check, one_check_s_warnings_are_not_the_next_ones) {
  run(call("assay_test::warning", in(0)));
  EXPECT_EQ(run(call("aten::relu", in(0))).record["warnings"], json::array());
}

}  // namespace assay::tests
