// SPDX-License-Identifier: Apache-2.0
#include "host/assay/model_share.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "host/assay/report_paper.hpp"

namespace assay {
namespace {

using nlohmann::json;

json trace() {
  const auto check = [](const char* name, const char* op, int calls) {
    return json{{"check", name}, {"op", op}, {"calls", calls}, {"guessed", json::array()}};
  };
  return {
      {"file", "/logs/bert.txt"},
      {"plugin", "trace.bert"},
      {"entries", 5},
      {"calls", 19},
      {"checks",
       {check("trace/mm_1", "aten::mm", 3), check("trace/mm_2", "aten::mm", 1),
        check("trace/relu_1", "aten::relu", 10), check("trace/add_1", "aten::add.Tensor", 2)}},
      {"skipped", {{{"line", 9}, {"op", "aten::fft"}, {"calls", 3}, {"reason", "it is complex"}}}}};
}

collected_run::entry entry(const std::string& id, const std::string& device, json timing,
                           const std::string& status = "ok") {
  collected_run::entry e;
  e.id = id;
  e.device = device;
  e.result = {
      {"status", status}, {"on_device", true}, {"device", device}, {"timing", std::move(timing)}};
  return e;
}

const json& row_of(const json& record, const std::string& op) {
  for (const json& row : record.at("operators")) {
    if (row.at("op") == op) {
      return row;
    }
  }
  throw std::runtime_error("no operator " + op);
}

TEST(model_share, counts_weigh_the_times_and_shares_add_up) {
  const auto records =
      share_of_model({trace()}, {entry("trace/mm_1[float32]", "cpu", {{"wall_us", 20.0}}),
                                 entry("trace/mm_2[float32]", "cpu", {{"wall_us", 40.0}}),
                                 entry("trace/relu_1[float32]", "cpu", {{"wall_us", 10.0}}),
                                 entry("trace/add_1[float32]", "cpu", nullptr, "error"),
                                 entry("norm/batch_norm[float32]", "cpu", {{"wall_us", 1e6}})});
  ASSERT_EQ(records.size(), 1U);
  const json& record = records[0];
  EXPECT_EQ(record.at("record"), "model");
  EXPECT_EQ(record.at("device"), "cpu");
  EXPECT_EQ(record.at("total_us"), 3 * 20.0 + 40.0 + 10 * 10.0);
  EXPECT_EQ(record.at("calls"), 19);
  EXPECT_EQ(record.at("timed_calls"), 14);
  EXPECT_EQ(record.at("ok_calls"), 14);
  const json& mm = row_of(record, "aten::mm");
  EXPECT_EQ(mm.at("calls"), 4);
  EXPECT_EQ(mm.at("checks"), 2);
  EXPECT_EQ(mm.at("us_per_call"), 25.0);
  EXPECT_EQ(mm.at("total_us"), 100.0);
  EXPECT_EQ(mm.at("share"), 0.5);
  EXPECT_EQ(mm.at("basis"), json({"wall"}));
  EXPECT_EQ(row_of(record, "aten::add.Tensor").at("share"), nullptr) << "not measured is null";
  double sum = 0.0;
  for (const json& row : record.at("operators")) {
    sum += row.at("share").is_null() ? 0.0 : row.at("share").get<double>();
  }
  EXPECT_DOUBLE_EQ(sum, 1.0);
}

TEST(model_share, on_a_device_its_own_time_counts) {
  auto seen = entry("trace/mm_1[float32]", "cuda:0",
                    {{"wall_us", 20.0}, {"device_us", 9.0}, {"device_basis", "held"}});
  const auto upper = entry("trace/relu_1[float32]", "cuda:0",
                           {{"wall_us", 20.0}, {"device_us", 8.0}, {"device_basis", "span"}});
  const auto records = share_of_model({trace()}, {seen, upper});
  EXPECT_EQ(row_of(records.at(0), "aten::mm").at("total_us"), 27.0);
  EXPECT_EQ(row_of(records.at(0), "aten::mm").at("basis"), json({"device"}));
  EXPECT_EQ(row_of(records.at(0), "aten::relu").at("basis"), json({"span"}));
}

TEST(model_share, a_failed_verdict_has_a_time_and_does_not_cover) {
  auto wrong = entry("trace/mm_1[float32]", "cpu", {{"wall_us", 20.0}});
  wrong.evidence = {{"verdict", {{"verdict", "fail"}}}};
  const auto records = share_of_model({trace()}, {wrong});
  EXPECT_EQ(records.at(0).at("timed_calls"), 3);
  EXPECT_EQ(records.at(0).at("ok_calls"), 0);
}

TEST(model_share, devices_and_dtypes_are_told_apart) {
  const auto records =
      share_of_model({trace()}, {entry("trace/mm_1[float32]", "cpu", {{"wall_us", 20.0}}),
                                 entry("trace/mm_1[float16]", "cpu", {{"wall_us", 30.0}}),
                                 entry("trace/mm_1[float32]", "cuda:0", {{"wall_us", 2.0}})});
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[0].at("dtype"), "float16");
  EXPECT_EQ(records[0].at("total_us"), 90.0);
  EXPECT_EQ(records[1].at("dtype"), "float32");
  EXPECT_EQ(records[2].at("device"), "cuda:0");
}

TEST(model_share, a_trace_that_did_not_run_has_no_record) {
  EXPECT_TRUE(share_of_model({trace()}, {}).empty());
}

TEST(model_table, it_says_what_is_covered_and_what_was_skipped) {
  collected_run run;
  for (const json& record :
       share_of_model({trace()}, {entry("trace/mm_1[float32]", "cpu", {{"wall_us", 20.0}}),
                                  entry("trace/relu_1[float32]", "cpu", {{"wall_us", 10.0}})})) {
    run.add(record);
  }
  std::ostringstream out;
  report_paper paper(out, false, 0);
  print_models(paper, run);
  const std::string text = out.str();
  for (const char* part : {"Model bert.txt on cpu: 5 entries, 19 calls, 4 checks",
                           "aten::relu           10     10.0   100 us  62.5 %", "62.5 %",
                           "68.4 % of the calls are covered by checks that ran ok",
                           "Skipped: 1 entry (3 calls): it is complex: line 9 (aten::fft)",
                           "their sum is not the model's step time"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

}  // namespace
}  // namespace assay
