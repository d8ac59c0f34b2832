// SPDX-License-Identifier: Apache-2.0
//
// Result files read again: whole, cut, damaged, hostile.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "host/results/saved_run.hpp"
#include "temp_dir.hpp"

namespace assay {
namespace {

using nlohmann::json;

const char* const run_line =
    R"({"record":"run","schema_version":1,"assay_version":"0.1.0","started":"2026-11-30T00:00:00Z",)"
    R"("options":{"seed":{"value":"7","source":"built in"},"json":{"value":"x","source":"built in"}}})";
const char* const engine_line =
    R"({"record":"engine","torch_version":"2.11.0","torch_package":"2.11.0+rocm7.2","build":"rocm",)"
    R"("devices":[{"device":"cuda:0","name":"AMD Radeon RX 6600","architecture":"gfx1032"}]})";
const char* const result_line =
    R"({"record":"result","id":"norm/batch_norm[float32]","device":"cuda:0","status":"ok",)"
    R"("repeat_of":null,"error":null,"timing":{"profile":"measure","wall_us":10.5,"device_us":4.5,)"
    R"("device_basis":"held","samples":{"wall_us":[10,11],"device_us":[4,5]}}})";
const char* const evidence_line =
    R"({"record":"evidence","id":"norm/batch_norm[float32]","device":"cuda:0",)"
    R"("evidence":{"sizes":"classic","io_bytes":64,"correct":{"outputs":[{"normalised_error":1e-7},)"
    R"({"normalised_error":3e-7},{"normalised_error":null}]}},"verdict":{"verdict":"warn",)"
    R"("path":"native","bound":"launch","links":{"path":{"state":"warn","why":"slow"}}}})";
const char* const summary_line = R"({"record":"summary","interrupted":false})";

class saved_run_file : public ::testing::Test {
 protected:
  std::filesystem::path write(const std::string& text) {
    const std::filesystem::path file = temp_.path() / "run.jsonl";
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }

  saved_run read(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) {
      text += line + "\n";
    }
    return read_saved_run(write(text));
  }

  std::string refusal(const std::string& text, const reading_limits& limits = {}) {
    try {
      read_saved_run(write(text), limits);
    } catch (const results_error& error) {
      const std::string what = error.what();
      const std::string file = (temp_.path() / "run.jsonl").string();
      return what.starts_with(file) ? what.substr(file.size()) : what;
    }
    return "(read)";
  }

  testing::temp_dir temp_;
};

TEST_F(saved_run_file, whole) {
  const saved_run run = read({run_line, engine_line, result_line, evidence_line, summary_line});
  EXPECT_TRUE(run.remarks.empty());
  const std::vector<std::pair<std::string, std::string>> environment{
      {"assay", "0.1.0"},
      {"--seed", "7"},
      {"LibTorch", "2.11.0+rocm7.2"},
      {"build", "rocm"},
      {"cuda:0", "AMD Radeon RX 6600 (gfx1032)"}};
  EXPECT_EQ(run.environment, environment);
  ASSERT_EQ(run.checks.size(), 1U);
  const saved_check& check = run.checks.at("cuda:0 norm/batch_norm[float32]");
  EXPECT_EQ(check.times.device_us, 4.5);
  EXPECT_TRUE(check.times.device_held);
  EXPECT_EQ(check.times.wall_samples_us, (std::vector<double>{10, 11}));
  EXPECT_EQ(check.path, "native");
  EXPECT_EQ(check.links.at("path").why, "slow");
  EXPECT_EQ(check.normalised_error, 3e-7);
  EXPECT_EQ(check.io_bytes, 64.0);
}

TEST_F(saved_run_file, repeats_and_baselines_are_no_results) {
  json repeat = json::parse(result_line);
  repeat["repeat_of"] = "a crash of its neighbour";
  json baseline = json::parse(result_line);
  baseline["device"] = "cpu";
  baseline["baseline"] = true;
  EXPECT_TRUE(read({run_line, repeat.dump(), baseline.dump(), summary_line}).checks.empty());
}

TEST_F(saved_run_file, cut_off_it_reads_to_the_last_whole_record) {
  EXPECT_EQ(read_saved_run(write(std::string(run_line) + "\n" + result_line + "\n{\"rec"))
                .remarks.front(),
            "line 3, the last, is cut off: read up to line 2");
  EXPECT_EQ(read({run_line, result_line}).remarks.front(),
            "the run did not come to its end: there is no summary");
}

TEST_F(saved_run_file, damage_in_the_middle_names_its_line) {
  EXPECT_EQ(read({run_line, "{]", result_line, summary_line}).remarks.front().substr(0, 18),
            "line 2 is damaged ");
  const saved_run bad_text = read({run_line, "{\"record\":\"\xff\"}", result_line, summary_line});
  EXPECT_NE(bad_text.remarks.front().find("UTF-8"), std::string::npos) << bad_text.remarks.front();
  EXPECT_TRUE(bad_text.checks.empty());
}

TEST_F(saved_run_file, what_is_no_result_file_is_refused_in_one_line) {
  for (const char* text : {"", "\n\n", "hello\n", "{}\n", "[1]\n", R"({"record":"run"})"}) {
    EXPECT_EQ(refusal(text),
              " is no result file: its first line is no record 'run'; assay run "
              "--json FILE writes one")
        << text;
  }
  EXPECT_EQ(refusal(R"({"record":"run","schema_version":99})"),
            " has schema version 99, this assay reads up to 1; use a newer assay");
  EXPECT_EQ(refusal(std::string(run_line) + "\n" + std::string(5000, 'x'), {.line_bytes = 4096}),
            ": line 2 is longer than 0 MiB; it is no result file");
  EXPECT_EQ(refusal(std::string(run_line) + "\n" + result_line, {.checks = 0}),
            " has more than 0 checks; it is no result file of assay");
  try {
    read_saved_run(temp_.path() / "none.jsonl");
    FAIL();
  } catch (const results_error& error) {
    EXPECT_NE(std::string(error.what()).find("there is no such file"), std::string::npos);
  }
}

TEST_F(saved_run_file, hostile_values_count_as_not_said) {
  std::string deep = R"({"record":"result","id":)";
  deep += std::string(5000, '[') + std::string(5000, ']') + "}";
  const saved_run run =
      read({run_line, R"({"record":"result","id":7,"device":null,"status":[],"timing":3})",
            R"({"record":"result","id":"a/b[float32]","device":"cpu","timing":{"wall_us":1e400}})",
            deep});
  EXPECT_EQ(run.checks.size(), 1U);  // the one with wrong types; then the number is out of range
  EXPECT_NE(run.remarks.front().find("line 3"), std::string::npos) << run.remarks.front();
}

TEST_F(saved_run_file, folders_name_their_files_in_order) {
  const auto file = [this](const char* name) {
    std::ofstream(temp_.path() / name) << "x";
    return temp_.path() / name;
  };
  const auto b = file("b.jsonl");
  const auto a = file("a.json");
  file("c.txt");
  EXPECT_EQ(result_files({temp_.path()}), (std::vector<std::filesystem::path>{a, b}));
  std::filesystem::create_directory(temp_.path() / "empty");
  EXPECT_THROW(result_files({temp_.path() / "empty"}), results_error);
}

}  // namespace
}  // namespace assay
