// SPDX-License-Identifier: Apache-2.0
//
// Result files cut anywhere, changed by hand or made to do harm, by both of assay's readers.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <streambuf>

#include "host/assay/report_command.hpp"
#include "host/assay/reports.hpp"
#include "tests/fuzz/read_result_text.hpp"

namespace assay {
namespace {

using nlohmann::json;

std::string lines_of(const std::vector<json>& records) {
  std::string text;
  for (const json& record : records) {
    text += record.dump() + "\n";
  }
  return text;
}

/// One of each record that a reader looks into, with every member that it looks at.
std::vector<json> small_run() {
  return {{{"record", "run"},
           {"schema_version", 1},
           {"assay_version", "0.1.0"},
           {"started", "2026-11-30T00:00:00Z"},
           {"options", {{"seed", {{"value", "7"}, {"source", "built in"}}}}}},
          {{"record", "plugin"},
           {"id", "norm"},
           {"version", "1"},
           {"status", "loaded"},
           {"sha256", "0123456789abcdef"}},
          {{"record", "engine"},
           {"torch_version", "2.11.0"},
           {"torch_package", "2.11.0+cpu"},
           {"build", "cpu"},
           {"devices", {{{"device", "cpu"}, {"name", "a CPU"}, {"architecture", "AVX2"}}}}},
          {{"record", "schedule"},
           {"checks", {{{"id", "norm/a[float32]"}, {"device", "cpu"}, {"baseline", false}}}},
           {"not_selected", {{{"id", "norm/b"}, {"reason", "not enabled"}}}}},
          {{"record", "ceilings"}, {"device", "cpu"}, {"copy_gb_per_s", 5.5}},
          {{"record", "result"},
           {"id", "norm/a[float32]"},
           {"device", "cpu"},
           {"status", "ok"},
           {"repeat_of", nullptr},
           {"baseline", false},
           {"known", false},
           {"on_device", true},
           {"warnings", {{{"text", "beware"}, {"count", 2}, {"source", "a.cpp:1"}}}},
           {"outputs", {{{"device", "cpu"}}}},
           {"poisoned", false},
           {"stdout", "printed"},
           {"stdout_bytes", 7},
           {"error", {{"type", "none"}, {"message", "of\ntwo lines"}}},
           {"timing",
            {{"profile", "measure"},
             {"wall_us", 10.5},
             {"device_us", nullptr},
             {"submit_us", 1.5},
             {"first_call_us", 100},
             {"device_basis", "held"},
             {"samples", {{"wall_us", {10, 11, 10, 11, 10}}, {"device_us", {4, 5, 4, 5}}}}}}},
          {{"record", "evidence"},
           {"id", "norm/a[float32]"},
           {"device", "cpu"},
           {"status", "ok"},
           {"phase", "done"},
           {"evidence",
            {{"sizes", "classic"},
             {"io_bytes", 64},
             {"correct", {{"outputs", {{{"normalised_error", 1e-7}}}}}}}},
           {"verdict",
            {{"verdict", "warn"},
             {"path", "native"},
             {"bound", "launch"},
             {"links", {{"path", {{"state", "warn"}, {"why", "slow"}}}}}}}},
          {{"record", "summary"}, {"interrupted", false}, {"text", "Summary: 1/1"}}};
}

/// The messages of both readers, which must be alike: a refusal, or what is missing.
std::string said_of(const std::string& text, const reading_limits& limits = {}) {
  std::array<std::string, 2> said;
  const auto note = [](std::string& to, const std::vector<std::string>& remarks) {
    for (const std::string& remark : remarks) {
      to += remark + ";";
    }
  };
  try {
    std::istringstream in(text);
    note(said[0], read_saved_run(in, "f", limits).remarks);
  } catch (const results_error& error) {
    said[0] = error.what();
  }
  try {
    std::istringstream in(text);
    note(said[1], read_result_file(in, "f", limits).remarks);
  } catch (const results_error& error) {
    said[1] = error.what();
  }
  EXPECT_EQ(said[0], said[1]);
  return said[0];
}

std::string with_line(const std::string& line) {
  const auto records = small_run();
  return records.front().dump() + "\n" + line + "\n" + records.back().dump() + "\n";
}

TEST(hostile_results, cut_at_every_byte) {
  const std::string text = lines_of(small_run());
  const std::size_t first = text.find('\n');
  const std::string no_summary = "the run did not come to its end: there is no summary;";
  for (std::size_t length = 0; length < text.size() - 1; ++length) {
    const std::string cut = text.substr(0, length);
    const std::string said = said_of(cut);
    const auto whole = std::count(cut.begin(), cut.end(), '\n');
    const bool at_an_end = length == 0 || text[length] == '\n' || text[length - 1] == '\n';
    if (length < first) {
      EXPECT_NE(said.find("is no result file"), std::string::npos) << length << said;
    } else if (at_an_end) {
      EXPECT_EQ(said, no_summary) << length;
    } else {
      EXPECT_EQ(said, "line " + std::to_string(whole + 1) +
                          ", the last, is cut off: read up to line " + std::to_string(whole) + ";")
          << length;
    }
  }
  EXPECT_EQ(said_of(text.substr(0, text.size() - 1)), "");  // all is there but the line's end
  EXPECT_EQ(said_of(text), "");
}

/// Puts every value in the place of every member, one at a time.
void with_each_member_changed(json& root, json& at, const std::function<void()>& look) {
  const std::vector<json> values{nullptr,       true,           -1,    1e308,       "x",
                                 json::array(), json::object(), {{1}}, {{{"a", 1}}}};
  for (auto& member : at) {
    const json kept = member;
    for (const json& value : values) {
      member = value;
      look();
    }
    member = kept;
    if (member.is_structured()) {
      with_each_member_changed(root, member, look);
    }
  }
}

TEST(hostile_results, wrong_types_everywhere) {
  std::vector<json> records = small_run();
  std::size_t tried = 0;
  std::size_t read = 0;
  for (json& record : records) {
    with_each_member_changed(record, record, [&] {
      ++tried;
      const std::string text = lines_of(records);
      try {
        read += testing::reads_as_result_file(text) ? 1U : 0U;
      } catch (const std::logic_error& error) {
        FAIL() << error.what() << "\n" << text;
      }
    });
  }
  EXPECT_GT(tried, 500U);
  EXPECT_GT(read, tried / 2);  // most count as not said
}

/// In each form; what the JSON library throws has a line for the user.
void report_of(const std::string& text) {
  std::istringstream in(text);
  try {
    const read_records read = read_result_file(in, "f");
    std::ostringstream out;
    const auto table = make_table_report(out, false, 80);
    collected_run run;
    for (const json& record : read.records) {
      run.add(record);
      table->on_record(record);
    }
    junit_document(run);
    csv_report(run);
    markdown_report(run, read.remarks, redaction({}, {}));
  } catch (const results_error&) {
  } catch (const json::exception&) {
  }
}

TEST(hostile_results, wrong_types_in_every_form_of_report) {
  std::vector<json> records = small_run();
  for (json& record : records) {
    with_each_member_changed(record, record, [&] {
      const std::string text = lines_of(records);
      EXPECT_NO_THROW(report_of(text)) << text;
    });
  }
}

TEST(hostile_results, damage_is_named_with_its_line) {
  for (const std::string& line :
       {std::string(1'000'000, '['), std::string(100'000, '[') + std::string(100'000, ']'),
        std::string("{\"record\":1e999}"), "{\"record\":1" + std::string(400, '0') + "}",
        std::string("{\"record\":\"\xff\"}"), std::string("{\"rec\xc3(\":1}"),
        std::string("{\"record\":\"\xed\xa0\x80\"}"), std::string("\xff\xfe"),
        std::string("{\"record\":\"a\0b\"}", 16), std::string(1, '\0'), std::string("7"),
        std::string("{} {}"), std::string("nul")}) {
    const std::string said = said_of(with_line(line));
    EXPECT_TRUE(said.starts_with("line 2 is damaged (")) << said;
    EXPECT_TRUE(said.ends_with("): read up to line 1;")) << said;
    EXPECT_LT(said.size(), 200U);
  }
}

TEST(hostile_results, schema_versions) {
  const auto with_version = [](const json& version) {
    auto records = small_run();
    records.front()["schema_version"] = version;
    return said_of(lines_of(records));
  };
  for (const json& version : {json(0), json(-1), json("1"), json(1.5), json(nullptr), json(true)}) {
    EXPECT_EQ(with_version(version), "f has schema version " + version.dump() +
                                         ", which no assay writes; it must be a whole number "
                                         "from 1 to 1");
  }
  EXPECT_EQ(with_version(2), "f has schema version 2, this assay reads up to 1; use a newer assay");
  EXPECT_NE(with_version(std::string(5000, 'x')).find("version of another kind"),
            std::string::npos);
  EXPECT_EQ(with_version(1.0), "");
}

TEST(hostile_results, what_is_unknown_is_kept_and_changes_nothing) {
  auto records = small_run();
  const std::string known = lines_of(records);
  for (json& record : records) {
    record["of_a_later_version"] = {{"a", {1, "b", nullptr}}};
  }
  const json unheard_of{{"record", "unheard_of"}, {"id", "norm/a[float32]"}};
  records.insert(records.begin() + 1, unheard_of);
  const std::string text = lines_of(records);
  std::istringstream in(text);
  EXPECT_EQ(read_result_file(in, "f").records, records);
  std::istringstream before(known);
  std::istringstream after(text);
  const comparison found = compare({read_saved_run(before, "f")}, {read_saved_run(after, "f")}, {});
  EXPECT_EQ(found.checks_in_both, 1U);
  EXPECT_FALSE(found.regression);
  EXPECT_TRUE(found.environment.empty() && found.links.empty() && found.remarks.empty());
}

/// A text of any length that is nowhere.
class endless : public std::streambuf {
 public:
  endless(const std::string& begin, char then) : block_(std::size_t{1} << 16, then) {
    std::copy(begin.begin(), begin.end(), block_.begin());
    setg(block_.data(), block_.data(), block_.data() + block_.size());
    filler_ = then;
  }
  [[nodiscard]] std::size_t read() const { return blocks_ * block_.size(); }

 protected:
  int_type underflow() override {
    std::fill(block_.begin(), block_.end(), filler_);
    setg(block_.data(), block_.data(), block_.data() + block_.size());
    ++blocks_;
    return traits_type::to_int_type(filler_);
  }

 private:
  std::string block_;
  char filler_;
  std::size_t blocks_ = 0;
};

TEST(hostile_results, a_file_without_end_is_left_soon) {
  const std::string begin = small_run().front().dump() + "\n";
  reading_limits limits;
  limits.line_bytes = std::size_t{1} << 20;
  limits.lines = 50'000;
  for (const char then : {'\n', ' ', '[', '\0'}) {
    for (const bool report : {false, true}) {
      endless text(begin, then);
      std::istream in(&text);
      try {
        if (report) {
          read_result_file(in, "f", limits);
        } else {
          read_saved_run(in, "f", limits);
        }
        FAIL() << then;
      } catch (const results_error& error) {
        EXPECT_EQ(std::string(error.what()),
                  then == '\n' ? "f has more than 50000 lines or 512 MiB; it is no result file of "
                                 "assay"
                               : "f: line 2 is longer than 1 MiB; it is no result file");
      }
      EXPECT_LT(text.read(), std::size_t{2} << 20);
    }
  }
}

TEST(hostile_results, each_limit_is_said) {
  const std::string text = lines_of(small_run());
  const auto refusal = [&](const reading_limits& limits) {
    std::istringstream in(text);
    try {
      read_saved_run(in, "f", limits);
    } catch (const results_error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string end = "; it is no result file of assay";
  EXPECT_EQ(refusal({.file_bytes = 500}), "f has more than 2000000 lines or 0 MiB" + end);
  EXPECT_EQ(refusal({.lines = 2}), "f has more than 2 lines or 512 MiB" + end);
  EXPECT_EQ(refusal({.checks = 0}), "f has more than 0 checks" + end);
  EXPECT_EQ(refusal({.samples = 8}), "f has more than 8 samples" + end);
  EXPECT_EQ(refusal({.environment = 3}), "f has more than 3 facts of its environment" + end);
  EXPECT_EQ(refusal({.links = 0}), "f has more than 0 links of a check" + end);
  for (const auto& [limits, words] : std::vector<std::pair<reading_limits, std::string>>{
           {{.values = 50}, "50 values"}, {{.results = 0}, "0 results"}}) {
    std::istringstream in(text);
    try {
      read_result_file(in, "f", limits);
      FAIL() << words;
    } catch (const results_error& error) {
      EXPECT_EQ(std::string(error.what()), "f has more than " + words + end);
    }
  }
}

TEST(hostile_results, the_corpus_of_the_fuzz_target) {
  std::size_t files = 0;
  std::size_t read = 0;
  for (const auto& entry : std::filesystem::directory_iterator(ASSAY_FUZZ_CORPUS)) {
    std::ifstream in(entry.path(), std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    ++files;
    try {
      read += testing::reads_as_result_file(text.str()) ? 1U : 0U;
    } catch (const std::logic_error& error) {
      FAIL() << entry.path() << ": " << error.what();
    }
  }
  EXPECT_GE(files, 5U);
  EXPECT_GE(read, 5U);
}

}  // namespace
}  // namespace assay
