// SPDX-License-Identifier: Apache-2.0
//
// The reports of a run with the chain of evidence.
#include <gtest/gtest.h>

#include <sstream>

#include "evidence_run.hpp"
#include "golden.hpp"
#include "host/assay/report_paper.hpp"
#include "host/assay/reports.hpp"
#include "host/assay/verdict.hpp"
#include "temp_dir.hpp"

namespace assay {
namespace {

using namespace testing_support;

class chain_run {
 public:
  explicit chain_run(bool baseline) {
    json run = run_record();
    run["options"]["split"] = {{"value", "true"}, {"source", "command line"}};
    run["options"]["baseline"] = {{"value", baseline ? "cpu" : ""}, {"source", "command line"}};
    head_ = {run, engine_record()};
    if (baseline) {
      on_cpu_ = timed_result({{"device", "cpu"},
                              {"baseline", true},
                              {"timing", timing(300.0, 420.0, nullptr, 500.0)}});
    }
  }

  void add(const std::string& name, const json& gathered, const json& changes = json::object(),
           const json& check_changes = json::object()) {
    json line = timed_result({{"id", "activation/" + name + "[float32]"}, {"name", name}});
    line.update(changes);
    if (!on_cpu_.is_null()) {
      json slower = on_cpu_;
      slower["id"] = line["id"];
      slower["name"] = name;
      checks_.push_back({{"id", line["id"]}, {"device", "cpu"}, {"baseline", true}});
      body_.push_back(starting(slower));
      body_.push_back(slower);
    }
    checks_.push_back({{"id", line["id"]}, {"device", "cuda:0"}, {"baseline", false}});
    body_.push_back(starting(line));
    body_.push_back(line);
    json evidence{
        {"record", "evidence"}, {"id", line["id"]}, {"device", "cuda:0"}, {"evidence", nullptr}};
    if (gathered.is_object()) {
      evidence.update(gathered);
    }
    evidence["verdict"] = judge({check_record(check_changes), line, gathered, ceilings_record(),
                                 on_cpu_, "AMD Radeon RX 6600", "gfx1032"});
    tail_.push_back(evidence);
  }

  [[nodiscard]] std::vector<json> records() const {
    std::vector<json> all = head_;
    all.push_back({{"record", "schedule"}, {"checks", checks_}, {"not_selected", json::array()}});
    all.push_back(ceilings_record());
    all.insert(all.end(), body_.begin(), body_.end());
    all.insert(all.end(), tail_.begin(), tail_.end());
    all.push_back(summary("Summary: the last line", false));
    return all;
  }

 private:
  std::vector<json> head_, body_, tail_;
  json checks_ = json::array();
  json on_cpu_;
};

/// A run with one of everything that a verdict can say.
chain_run sample_chain(bool baseline) {
  chain_run run(baseline);
  run.add("gelu", gathered_of(evidence_of()));
  run.add("relu", gathered_of(evidence_of({{"profiler", profiler_of(2.1, 1.0)}})));
  run.add("silu", gathered_of(evidence_of({{"profiler", profiler_of(20.0, 1.0)}})));
  run.add("softmax",
          gathered_of(evidence_of({{"profiler", profiler_of(9.0, 1.0, {{"syncs", 1.0}})}})),
          {{"note", "1 warning"}});
  json round_trip = evidence_of();
  round_trip["trace"]["ops"].push_back(
      traced("aten::_to_copy", 1, {{"crosses", true}, {"crossing_elements", 4096}}));
  round_trip["correct"]["outputs"][0]["normalised_error"] = 0.01;
  run.add("hardtanh", gathered_of(round_trip));
  run.add(
      "a_check_whose_name_is_rather_long", gathered_of(evidence_of()), json::object(),
      {{"paths",
        {{{"name", "math"}, {"grade", "slow"}, {"source", "operator"}, {"pattern", "*gelu"}}}}});
  run.add(
      "sigmoid",
      gathered_of(evidence_of({{"profiler", {{"state", "unknown"}, {"why", "no permission"}}}})));
  json crashed = gathered_of(nullptr);
  crashed.update(
      {{"status", "crash"},
       {"phase", "evidence"},
       {"stderr", "tracer: boom\n"},
       {"error",
        {{"type", "crash"}, {"message", "the process died of SIGSEGV"}, {"trace", nullptr}}}});
  run.add("elu", crashed);
  const json failed{
      {"status", "error"},
      {"phase", "first_call"},
      {"outputs", json::array()},
      {"on_device", nullptr},
      {"timing", nullptr},
      {"note", "no such kernel (first_call)"},
      {"error", {{"type", "c10::Error"}, {"message", "no such kernel"}, {"trace", nullptr}}}};
  run.add("tanh", nullptr, failed);
  json skipped = failed;
  skipped["status"] = "skipped";
  skipped["note"] = "no such kernel";
  run.add("mish", nullptr, skipped);
  run.add("mm", gathered_of(evidence_of()), json::object(),
          {{"cost", {{"elements", 3e6}, {"bytes", 0.0}, {"flops", 8e8}, {"matrix", true}}}});
  return run;
}

std::string table(const std::vector<json>& records, bool color, int width) {
  std::ostringstream out;
  const auto report = make_table_report(out, color, width);
  for (const json& record : records) {
    report->on_record(record);
  }
  return out.str();
}

TEST(chain_report, a_hundred_columns) {
  const std::string text = table(sample_chain(false).records(), false, 100);
  expect_golden("chain_100.txt", text);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 100U) << line;
  }
  EXPECT_TRUE(text.ends_with("\nSummary: the last line\n"));
}

TEST(chain_report, wide_with_a_baseline) {
  expect_golden("chain_wide_baseline.txt", table(sample_chain(true).records(), false, 0));
}

TEST(chain_report, a_narrow_terminal_loses_columns_and_no_check) {
  const std::string text = table(sample_chain(false).records(), false, 80);
  EXPECT_EQ(text.find("GB/s  "), std::string::npos);
  for (const char* name : {"gelu", "relu", "mm"}) {
    EXPECT_NE(text.find("activation/" + std::string(name) + "[float32]"), std::string::npos);
  }
}

TEST(chain_report, colour_changes_no_text) {
  const auto records = sample_chain(true).records();
  std::string coloured = table(records, true, 100);
  for (const char* escape : {"\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[36m", "\x1b[0m"}) {
    EXPECT_NE(coloured.find(escape), std::string::npos);
    for (auto at = coloured.find(escape); at != std::string::npos; at = coloured.find(escape)) {
      coloured.erase(at, std::string(escape).size());
    }
  }
  EXPECT_EQ(coloured, table(records, false, 100));
}

TEST(chain_report, times_out_of_the_caches_have_a_column_where_there_are_any) {
  chain_run run(false);
  json times = timing(9.0, 42.0, 40.5, 800.0);
  times["cold_us"] = 55.5;
  run.add("gelu", gathered_of(evidence_of()), {{"timing", times}});
  run.add("relu", gathered_of(evidence_of()));
  const std::string text = table(run.records(), false, 0);
  EXPECT_NE(text.find("  wall  device  cold  bound"), std::string::npos) << text;
  EXPECT_NE(text.find("42.0    40.0  55.5  memory"), std::string::npos) << text;
  EXPECT_NE(text.find("42.0    40.0     -  memory"), std::string::npos) << text;
  EXPECT_NE(text.find("\ncold: "), std::string::npos) << text;
}

TEST(chain_report, what_differs_between_calls_is_a_fact_below_the_table) {
  chain_run run(false);
  json evidence = evidence_of();
  run.add("gelu", gathered_of(evidence));
  evidence["correct"]["repeatable"] = false;
  run.add("relu", gathered_of(evidence));
  const std::string text = table(run.records(), false, 0);
  EXPECT_NE(text.find("\nNot repeatable bit for bit, by two calls: activation/relu[float32]\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("Verdict: 2 pass"), std::string::npos) << text;
}

TEST(chain_report, a_baseline_without_a_speed_up_is_no_column_of_dashes) {
  chain_run run(false);
  run.add("gelu", gathered_of(evidence_of()));
  auto records = run.records();
  records[0]["options"]["baseline"] = {{"value", "cpu"}, {"source", "command line"}};
  const std::string text = table(records, false, 0);
  EXPECT_EQ(text.find("x cpu"), std::string::npos) << text;
  EXPECT_NE(text.find("Speed-up over the CPU: none"), std::string::npos) << text;
  EXPECT_EQ(text.find("launch-bound"), std::string::npos) << "none is: " << text;
}

TEST(chain_report, rates_have_the_prefix_that_fits) {
  const std::string text = ceilings_text(
      ceilings_record({{"copy_gb_per_s", 0.213},
                       {"matrix_tflop_per_s", {{"float32", 1450.0}, {"float16", 1e-5}}}}));
  EXPECT_NE(text.find("copy 213 MB/s, read 4.40 TB/s, float32 1.45 PF/s, float16 10.0 MF/s"),
            std::string::npos)
      << text;
}

TEST(chain_report, what_served_the_checks) {
  auto records = sample_chain(false).records();
  const auto traced = [](const std::string& name, const json& served, const std::string& why) {
    return json{{"record", "library_trace"},
                {"id", "activation/" + name + "[float32]"},
                {"device", "cuda:0"},
                {"worker", 9},
                {"served", served},
                {"state", why.empty() ? "known" : "unknown"},
                {"why", why}};
  };
  const auto one = [](const std::string& library, const std::string& what,
                      const std::string& detail) {
    return json{{"library", library}, {"what", what}, {"detail", detail}, {"lines", 1}};
  };
  EXPECT_EQ(table(records, false, 0).find("Served by"), std::string::npos);
  const json end = records.back();
  records.back() = traced("mm",
                          {one("rocBLAS", "gemm", "float32 m=4"),
                           one("hipBLASLt", "solution 2010", ""), one("profiler", "Cijk_Ailk", "")},
                          "");
  records.push_back(
      traced("gelu", json::array({one("profiler", "gelu_kernel", "")}), "rocBLAS logged nothing"));
  records.push_back(traced("relu", json::array(), "rocBLAS logged nothing"));
  records.push_back(
      traced("silu", json::array({one("LibTorch", "kernel silu", "kernel, 1 a call")}), ""));
  records.push_back(end);
  const std::string text = table(records, false, 0);
  for (const char* line :
       {"  activation/mm[float32]    rocBLAS gemm (float32 m=4); hipBLASLt solution 2010\n",
        "  activation/gelu[float32]  kernel gelu_kernel\n",
        "  activation/silu[float32]  LibTorch kernel silu\n",
        "  library not known of activation/gelu[float32], activation/relu[float32]: rocBLAS logged "
        "nothing\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "in\n" << text;
  }
  EXPECT_EQ(text.find("oneDNN"), std::string::npos);
}

TEST(chain_report, junit) {
  const testing::temp_dir temp;
  const auto file = temp.path() / "junit.xml";
  const auto report = make_junit_report(file);
  for (const json& record : sample_chain(true).records()) {
    report->on_record(record);
  }
  expect_golden("chain_junit.txt", file_text(file));
}

TEST(chain_report, an_interruption_names_the_check_that_ran) {
  auto records = sample_chain(false).records();
  const json started = records[4];
  ASSERT_EQ(started["record"], "starting");
  records.resize(5);
  json end = summary("Summary: x", true);
  records.push_back(end);
  const std::string text = table(records, false, 100);
  EXPECT_NE(
      text.find("Interrupted: 11 of 11 checks did not run. activation/gelu[float32] on cuda:0 was "
                "running."),
      std::string::npos)
      << text;
}

TEST(result_file, two_runs_do_not_write_the_same_file) {
#ifdef _WIN32
  GTEST_SKIP() << "a lock holds between processes alone";
#else
  // A lock holds between processes: the other one is a child of this one.
  const testing::temp_dir temp;
  const auto file = temp.path() / "run.jsonl";
  const auto mine = make_result_file(file);
  EXPECT_EXIT(
      {
        try {
          make_result_file(file);
          std::exit(0);
        } catch (const std::exception& e) {
          std::fprintf(stderr, "%s\n", e.what());
          std::exit(3);
        }
      },
      ::testing::ExitedWithCode(3), "another run is writing .*run.jsonl; name another file");
#endif
}

}  // namespace
}  // namespace assay
