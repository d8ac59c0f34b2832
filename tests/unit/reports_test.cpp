// SPDX-License-Identifier: Apache-2.0
#include "host/assay/reports.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "golden.hpp"
#include "host/assay/errors.hpp"
#include "sample_run.hpp"

namespace assay {
namespace {

using testing_support::expect_golden;
using testing_support::file_text;
using testing_support::json;
using testing_support::sample_run;

class scratch {
 public:
  scratch() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    dir_ = std::filesystem::path(testing::TempDir()) /
           (std::string("assay_") + test->test_suite_name() + "_" + test->name());
    std::filesystem::remove_all(dir_);
    std::filesystem::create_directories(dir_);
  }
  ~scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(dir_, ignored);
  }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  [[nodiscard]] std::filesystem::path operator/(const char* name) const { return dir_ / name; }

 private:
  std::filesystem::path dir_;
};

std::string table(const std::vector<json>& records, bool color, int width) {
  std::ostringstream out;
  const auto report = make_table_report(out, color, width);
  for (const json& record : records) {
    EXPECT_EQ(out.str(), "") << "the table is printed at the end, not before";
    report->on_record(record);
  }
  return out.str();
}

TEST(table_report, eighty_columns) {
  expect_golden("table_80.txt", table(sample_run(false), false, 80));
}

TEST(table_report, wide_and_interrupted) {
  expect_golden("table_wide_interrupted.txt", table(sample_run(true), false, 160));
}

TEST(table_report, only_status_words_are_coloured) {
  const std::string plain = table(sample_run(false), false, 80);
  std::string coloured = table(sample_run(false), true, 80);
  expect_golden("table_color.txt", coloured);
  for (const char* escape : {"\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[0m"}) {
    for (auto at = coloured.find(escape); at != std::string::npos; at = coloured.find(escape)) {
      coloured.erase(at, std::string(escape).size());
    }
  }
  EXPECT_EQ(coloured, plain);
}

TEST(table_report, ends_with_the_summary_text) {
  const std::string text = table(sample_run(true), false, 0);
  const std::string last =
      "\nSummary: 3/8 returned cuda tensors | 1 errors | 1 warnings | 1 crashes | 1 timeouts | 1.3 "
      "s\n";
  EXPECT_TRUE(text.ends_with(last));
}

TEST(table_report, devices_stand_in_groups_and_the_cpu_is_explained) {
  std::vector<json> records{testing_support::run_record(), testing_support::engine_record()};
  const auto gpu = testing_support::result("elementwise", "add", "cuda:0", json::object());
  const auto cpu = testing_support::result("elementwise", "add", "cpu",
                                           {{"timing", testing_support::timing(1, 1, nullptr, 2)}});
  json checks = json::array();
  checks.push_back({{"id", gpu["id"]}, {"device", "cuda:0"}});
  checks.push_back({{"id", cpu["id"]}, {"device", "cpu"}});
  records.push_back({{"record", "schedule"}, {"checks", checks}, {"not_selected", json::array()}});
  records.push_back(cpu);
  records.push_back(gpu);
  records.push_back(testing_support::summary("Summary: x", false));
  expect_golden("table_devices.txt", table(records, false, 80));

  records[1]["backend_error"] = "libtorch_hip.so: cannot open shared object file";
  records[2]["checks"].erase(0);
  records.erase(records.begin() + 4);
  const std::string text = table(records, false, 100);
  EXPECT_NE(
      text.find("The CPU was used (--device auto): libtorch_hip.so: cannot open shared object "
                "file. With a GPU in the\nmachine, assay doctor looks for the cause.\n"),
      std::string::npos)
      << text;
}

TEST(table_report, a_run_that_found_nothing_still_ends_with_its_summary) {
  json engine = testing_support::engine_record();
  engine["status"] = "none";
  engine["reason"] = "no LibTorch was found";
  const std::string text =
      table({engine, testing_support::summary("Summary: nothing", false)}, false, 80);
  EXPECT_NE(text.find("LibTorch: no LibTorch was found\n"), std::string::npos);
  EXPECT_TRUE(text.ends_with("\nSummary: nothing\n"));
}

TEST(junit_report, everything) {
  const scratch dir;
  const auto file = dir / "junit.xml";
  const auto report = make_junit_report(file);
  for (const json& record : sample_run(true)) {
    EXPECT_FALSE(std::filesystem::exists(file));
    report->on_record(record);
  }
  expect_golden("junit.txt", file_text(file));
  EXPECT_FALSE(std::filesystem::exists(dir / "junit.xml.partial"));
}

TEST(junit_report, says_why_it_cannot_be_written) {
  const scratch dir;
  const auto report = make_junit_report(dir / "no_such_folder" / "junit.xml");
  try {
    report->on_record(testing_support::summary("x", false));
    FAIL() << "nothing was thrown";
  } catch (const tool_error& e) {
    EXPECT_NE(std::string(e.what()).find("junit.xml: No such file or directory"), std::string::npos)
        << e.what();
  }
}

TEST(result_file, one_flushed_line_a_record) {
  const scratch dir;
  const auto file = dir / "run.jsonl";
  const auto sink = make_result_file(file);
  std::size_t lines = 0;
  for (const json& record : sample_run(false)) {
    sink->on_record(record);
    ++lines;
    const std::string text = file_text(file);
    ASSERT_EQ(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')), lines);
    ASSERT_EQ(text.back(), '\n');
    const std::string last = text.substr(text.rfind('\n', text.size() - 2) + 1);
    ASSERT_EQ(json::parse(last)["record"], record["record"]);
  }
  EXPECT_NE(file_text(file).find("\xEF\xBF\xBD end"), std::string::npos);
}

TEST(result_file, says_why_it_cannot_be_opened_or_written) {
  const scratch dir;
  try {
    make_result_file(dir / "no_such_folder" / "run.jsonl");
    FAIL() << "nothing was thrown";
  } catch (const tool_error& e) {
    EXPECT_NE(std::string(e.what()).find("run.jsonl: No such file or directory"), std::string::npos)
        << e.what();
  }
  if (!std::filesystem::exists("/dev/full")) {
    GTEST_SKIP() << "this system has no /dev/full";
  }
  const auto sink = make_result_file("/dev/full");
  try {
    sink->on_record(json::object());
    FAIL() << "nothing was thrown";
  } catch (const tool_error& e) {
    EXPECT_STREQ(e.what(), "cannot write the result file /dev/full: No space left on device");
  }
}

TEST(progress_line, is_rewritten_in_place_and_erased) {
  std::ostringstream out;
  {
    const auto line = make_progress_line(out, 30);
    json checks = json::array();
    checks.push_back({{"id", "conv/conv2d[float32]"}, {"device", "cuda:0"}});
    checks.push_back({{"id", "a/b[float32]"}, {"device", "cpu"}});
    line->on_record({{"record", "schedule"}, {"checks", checks}});
    line->on_record({{"record", "starting"}, {"id", "conv/conv2d[float32]"}, {"device", "cuda:0"}});
    line->on_record({{"record", "starting"}, {"id", "a/b[float32]"}, {"device", "cpu"}});
  }
  EXPECT_EQ(out.str(),
            "\rloading plugins and LibTorch\r[1/2] conv/conv2d[float32] on" +
                std::string("\r[2/2] a/b[float32] on cpu    \r[2/2] a/b[float32] on cpu") + "\r" +
                std::string(25, ' ') + "\r");
}

}  // namespace
}  // namespace assay
