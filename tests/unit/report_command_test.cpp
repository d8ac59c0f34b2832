// SPDX-License-Identifier: Apache-2.0
//
// assay report: a result file shown again, above all for strangers.
#include "host/assay/report_command.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "host/results/saved_run.hpp"
#include "temp_dir.hpp"

namespace assay {
namespace {

using nlohmann::json;

const redaction nobody({}, {});

json run_record() {
  return {{"record", "run"},
          {"schema_version", 1},
          {"assay_version", "0.1.0"},
          {"started", "2026-11-30T00:00:00Z"},
          {"torch_dir", "/home/alice/venv/torch"},
          {"profile", "classic"},
          {"seed", 7},
          {"options", {{"enable", {{"value", "norm"}, {"source", "command line"}}}}}};
}

json engine_record() {
  return {
      {"record", "engine"},
      {"status", "ready"},
      {"torch_package", "2.11.0+rocm7.2"},
      {"build", "rocm"},
      {"devices",
       json::array(
           {{{"device", "cuda:0"}, {"name", "AMD Radeon RX 6600"}, {"architecture", "gfx1032"}}})}};
}

json schedule_of(const std::vector<std::string>& ids) {
  json checks = json::array();
  for (const std::string& id : ids) {
    checks.push_back({{"id", id}, {"device", "cuda:0"}});
  }
  return {{"record", "schedule"}, {"checks", checks}, {"not_selected", json::array()}};
}

json result_of(const std::string& id, const std::string& status, const std::string& message = "") {
  return {{"record", "result"},
          {"id", id},
          {"device", "cuda:0"},
          {"status", status},
          {"repeat_of", nullptr},
          {"phase", "first_call"},
          {"on_device", status == "ok" ? json(true) : json()},
          {"outputs", json::array()},
          {"warnings", json::array()},
          {"poisoned", false},
          {"timing", status == "ok" ? json{{"wall_us", 12.5}} : json()},
          {"note", ""},
          {"error", message.empty()
                        ? json()
                        : json{{"type", "c10::Error"}, {"message", message}, {"trace", nullptr}}}};
}

json summary_record() { return {{"record", "summary"}, {"text", "Summary: 1/2 | 1 errors"}}; }

collected_run collected(const std::vector<json>& records) {
  collected_run run;
  for (const json& record : records) {
    run.add(record);
  }
  return run;
}

std::vector<json> one_failure(const std::string& message) {
  return {run_record(),
          engine_record(),
          schedule_of({"norm/a[float32]", "norm/b[float32]"}),
          result_of("norm/a[float32]", "ok"),
          result_of("norm/b[float32]", "error", message),
          summary_record()};
}

TEST(markdown, a_failure_with_the_command_that_repeats_it) {
  const std::string text = markdown_report(collected(one_failure("no such kernel")), {}, nobody);
  for (const char* part :
       {"### Summary: 1/2", "- cuda:0: AMD Radeon RX 6600 (gfx1032)", "LibTorch 2.11.0+rocm7.2",
        "#### norm/b[float32] on cuda:0: error",
        "assay run --device cuda:0 --enable 'norm/b[float32]' --seed 7", "no such kernel",
        "<summary>Environment</summary>", "| norm/a[float32] | cuda:0 | ok |"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\nin\n" << text;
  }
  EXPECT_EQ(text.find("#### norm/a"), std::string::npos);
}

TEST(markdown, nothing_personal_is_in_it) {
  const redaction names({"alice"}, {"buildbox"});
  const std::string text = markdown_report(
      collected(one_failure("/home/alice/kernel.cpp on buildbox: failed for alice")),
      {"/home/alice/x was cut"}, names);
  for (const char* secret : {"alice", "buildbox", "/home/"}) {
    EXPECT_EQ(text.find(secret), std::string::npos) << secret << "\nin\n" << text;
  }
}

TEST(markdown, the_machine_and_its_variables) {
  auto records = one_failure("no such kernel");
  const json environment{{"record", "environment"},
                         {"libtorch", {{"git_hash", "70d99e998b"}, {"hip", "7.2"}}},
                         {"drivers", json::array({{{"name", "amdgpu"}, {"version", "6.12"}}})},
                         {"system", {{"kernel", "6.10.5"}, {"os", nullptr}}},
                         {"variables", {{"HSA_ENABLE_SDMA", "0"}}}};
  records.insert(records.begin() + 2, environment);
  const std::string text = markdown_report(collected(records), {}, nobody);
  for (const char* part : {"LibTorch's git_hash: 70d99e998b", "LibTorch's hip: 7.2",
                           "driver amdgpu: 6.12", "kernel: 6.10.5", "HSA_ENABLE_SDMA: 0"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\nin\n" << text;
  }
}

TEST(markdown, what_was_captured_cannot_end_its_block) {
  const std::string text = markdown_report(
      collected(one_failure("```\n</details><script>alert(1)</script>\n# not a title")), {},
      nobody);
  EXPECT_NE(text.find("````"), std::string::npos) << text;  // a longer fence than the text has
}

TEST(markdown, fits_and_says_what_was_left_out) {
  std::vector<std::string> ids;
  for (int i = 0; i < 2000; ++i) {
    ids.push_back("norm/check_" + std::to_string(i) + "[float32]");
  }
  std::vector<json> records{run_record(), engine_record(), schedule_of(ids)};
  for (const std::string& id : ids) {
    records.push_back(result_of(id, "error", std::string(3000, 'e')));
  }
  records.push_back(summary_record());
  const std::string text = markdown_report(collected(records), {}, nobody);
  EXPECT_LE(text.size(), 65'536U);
  EXPECT_NE(text.find("of 2000 checks with a failure or warning were left out"), std::string::npos);
  EXPECT_NE(text.find("<summary>Environment</summary>"), std::string::npos);
  EXPECT_NE(text.find("#### norm/check"), std::string::npos);
  EXPECT_LE(markdown_report(collected(records), {}, nobody, 5000).size(), 5000U);
}

TEST(csv, one_line_a_check) {
  auto records = one_failure("x");
  records[4]["note"] = "a \"note\", with a comma";
  EXPECT_EQ(csv_report(collected(records)),
            "id,device,status,verdict,on_device,no_fallback,correct,path_link,speed,path,bound,"
            "wall_us,device_us,submit_us,first_call_us,note\r\n"
            "norm/a[float32],cuda:0,ok,,,,,,,,,12.5,,,,\r\n"
            "norm/b[float32],cuda:0,error,,,,,,,,,,,,,\"a \"\"note\"\", with a comma\"\r\n");
}

class reading_again : public ::testing::Test {
 protected:
  read_records read(const std::string& text) {
    std::ofstream(temp_.path() / "r.jsonl", std::ios::binary) << text;
    return read_result_file(temp_.path() / "r.jsonl");
  }
  testing::temp_dir temp_;
};

TEST_F(reading_again, a_file_that_was_cut_off_gets_a_summary) {
  std::string text;
  for (const json& record : one_failure("x")) {
    text += record.dump() + "\n";
  }
  const read_records whole = read(text);
  EXPECT_TRUE(whole.remarks.empty());
  EXPECT_EQ(whole.records.size(), 6U);
  const std::string::size_type summary = text.find("{\"record\":\"summary\"");
  ASSERT_NE(summary, std::string::npos);
  const read_records cut = read(text.substr(0, summary + 9));
  EXPECT_EQ(cut.remarks,
            std::vector<std::string>{"line 6, the last, is cut off: read up to line 5"});
  EXPECT_EQ(cut.records.back().at("errors"), 1);
  EXPECT_EQ(cut.records.back().at("checks"), 2);
  EXPECT_EQ(cut.records.back().at("interrupted"), true);
  for (std::size_t length = text.find('\n') + 1; length < text.size(); length += 7) {
    EXPECT_EQ(read(text.substr(0, length)).records.back().at("record"), "summary");
  }
}

TEST_F(reading_again, what_assay_did_not_write) {
  EXPECT_THROW(read("{}\n"), results_error);
  EXPECT_THROW(read(""), results_error);
  EXPECT_THROW(read(run_record().dump() + "\n{\"record\":\"result\",\"id\":\"a\"}\n"),
               results_error);
  EXPECT_EQ(read(run_record().dump() + "\n7\n").remarks.front(),
            "line 2 is damaged (it is no JSON object): read up to line 1");
  EXPECT_EQ(read(run_record().dump() + "\n" + std::string(100'000, '[') + "\n").remarks.size(), 1U);
}

}  // namespace
}  // namespace assay
