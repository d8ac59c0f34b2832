// SPDX-License-Identifier: Apache-2.0
#include "host/assay/known_issues.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "evidence_run.hpp"
#include "host/assay/errors.hpp"
#include "host/assay/reports.hpp"
#include "host/assay/tally.hpp"
#include "temp_dir.hpp"

namespace assay {
namespace {

using testing_support::json;
using testing_support::timed_result;

std::string error_of(const std::string& text) {
  try {
    read_known_issues("known.toml", text);
  } catch (const usage_error& e) {
    return e.what();
  }
  return "no error";
}

TEST(known_issue_file, everything_that_an_entry_can_say) {
  const auto issues = read_known_issues("dir/known.toml", R"(
[[issue]]
id = ["conv/*", "norm/batch_norm[float16]"]
architecture = ["gfx103*", "gfx90a"]
torch = ">=2.9, <2.12"
build = "rocm"
device = ["cuda:1"]
fails = ["crash", "correct"]
reason = "MIOpen falls over its own feet"
link = "https://example.org/1"
expires = 2027-03-01

[[issue]]
id = "linear"
reason = "x"
expires = "2028-02-29"
)");
  ASSERT_EQ(issues.size(), 2u);
  EXPECT_EQ(issues[0].place(), "known.toml:2");
  EXPECT_EQ(issues[0].ids, (std::vector<std::string>{"conv/*", "norm/batch_norm[float16]"}));
  EXPECT_EQ(issues[0].architectures.size(), 2u);
  EXPECT_EQ(issues[0].builds, std::vector<std::string>{"rocm"});
  EXPECT_EQ(issues[0].fails.size(), 2u);
  EXPECT_EQ(issues[0].expires, "2027-03-01");
  EXPECT_EQ(issues[1].expires, "2028-02-29");
  EXPECT_TRUE(issues[1].fails.empty());
  EXPECT_TRUE(read_known_issues("known.toml", "# all mended\n").empty());
}

TEST(known_issue_file, a_mistake_names_file_line_and_key) {
  const auto in_entry = [](const std::string& line) {
    return error_of("[[issue]]\nid = \"conv\"\nreason = \"r\"\n" + line + "\n");
  };
  EXPECT_EQ(error_of("[[isue]]\nid = \"conv\"\n"),
            "known.toml:1: the file has no key 'isue'; did you mean 'issue'?");
  EXPECT_EQ(error_of("[[issue]]\nreason = \"r\"\n").substr(0, 37),
            "known.toml:1: an [[issue]] needs 'id'");
  EXPECT_EQ(error_of("\n[[issue]]\nid = \"conv\"\n").substr(0, 41),
            "known.toml:2: an [[issue]] needs 'reason'");
  EXPECT_EQ(in_entry("raeson = 1"),
            "known.toml:4: an [[issue]] has no key 'raeson'; did you mean 'reason'?");
  EXPECT_EQ(in_entry("fails = \"crashes\""),
            "known.toml:4: 'fails' cannot be 'crashes'; use error, crash, timeout, ran, on_device, "
            "no_fallback, correct, path, speed; did you mean 'crash'?");
  EXPECT_EQ(in_entry("build = \"hip\"").substr(0, 56),
            "known.toml:4: 'build' cannot be 'hip'; use rocm, cuda, c");
  EXPECT_EQ(in_entry("architecture = []"),
            "known.toml:4: 'architecture' is empty; name something, or take it out");
  EXPECT_EQ(in_entry("device = 3"), "known.toml:4: 'device' is a text of one line, in quotes");
  EXPECT_EQ(in_entry("link = \"a\\nb\""), "known.toml:4: 'link' is a text of one line, in quotes");
  EXPECT_EQ(in_entry("torch = \"2.9\""),
            "known.toml:4: 'torch': version range '2.9' begins with none of >= <= == > <");
  for (const char* day : {"\"2027-02-29\"", "\"2027-3-1\"", "\"soon\"", "20270301", "2027-13-01",
                          "2027-03-01T10:00:00"}) {
    EXPECT_EQ(in_entry(std::string("expires = ") + day).substr(0, 13), "known.toml:4:") << day;
  }
  EXPECT_EQ(error_of("[[issue]\n").substr(0, 13), "known.toml:1:");
  EXPECT_EQ(error_of("issue = 3\n"), "known.toml:1: an issue is written as [[issue]]");
}

json engine(const std::string& build, const json& architecture) {
  return {{"torch_version", "2.11.0"},
          {"build", build},
          {"devices",
           {{{"device", "cpu"}, {"name", "CPU"}, {"architecture", "AVX2"}},
            {{"device", "cuda:0"}, {"name", "GPU"}, {"architecture", architecture}}}}};
}

/// A run of activation/gelu[float32] on cuda:0, known issues given as TOML.
class known_run {
 public:
  explicit known_run(const std::string& toml, bool evidence = true, const json& gpu = "gfx90a:x-",
                     const std::string& build = "rocm")
      : known_(read_known_issues("known.toml", toml), "2026-11-30", evidence) {
    catalogue all;
    all.checks.push_back(testing_support::check_record());
    planned_check check;
    check.check = "activation/gelu";
    check.category = "activation";
    check.name = "gelu";
    check.dtype = "float32";
    check.device = "cuda:0";
    known_.meet(all, engine(build, gpu), {check});
    tally_.checks = 1;
  }

  json time(const json& changes) {
    json result = timed_result(changes);
    known_.judge_result(result);
    tally_.add_result(result);
    return result;
  }

  /// The links that are not "pass", and how the second run ended.
  json examine(const json& result, const json& links, const char* status = "ok",
               const char* phase = "done") {
    json verdict{{"verdict", "pass"}, {"headline", ""}, {"links", json::object()}};
    for (const char* link : {"ran", "on_device", "no_fallback", "correct", "path", "speed"}) {
      const std::string state = links.value(link, "pass");
      verdict["links"][link] = {{"state", state}, {"why", "so it is"}};
      if (state == "fail" || (state == "warn" && verdict["verdict"] == "pass")) {
        verdict["verdict"] = state;
      }
    }
    json line = testing_support::gathered_of(nullptr);
    line.update({{"record", "evidence"},
                 {"id", result.at("id")},
                 {"device", result.at("device")},
                 {"status", status},
                 {"phase", phase},
                 {"verdict", verdict}});
    known_.judge_evidence(line, result);
    tally_.add_verdict(line, result);
    return line;
  }

  [[nodiscard]] std::string state() const { return known_.records().at(0).at("state"); }
  [[nodiscard]] std::string text() const { return known_.records().at(0).at("text"); }
  [[nodiscard]] const tally& counts() const { return tally_; }

 private:
  known_issues known_;
  tally tally_;
};

std::string entry(const std::string& more) {
  return "[[issue]]\nid = \"activation/*\"\nreason = \"known since May\"\n" + more + "\n";
}

const json crashed{{"status", "crash"},
                   {"phase", "timed"},
                   {"outputs", json::array()},
                   {"on_device", nullptr},
                   {"timing", nullptr}};

TEST(known_issues, an_expected_failure_counts_as_known_and_as_no_failure) {
  known_run run(entry("fails = \"crash\""));
  const json result = run.time(crashed);
  EXPECT_EQ(result.at("known"), true);
  EXPECT_EQ(result.at("known_issues").at(0).at("entry"), "known.toml:1");
  EXPECT_EQ(result.at("known_issues").at(0).at("covers"), json::array({"crash"}));
  EXPECT_EQ(run.state(), "seen");
  EXPECT_EQ(run.counts().crashes, 0);
  EXPECT_EQ(run.counts().known, 1);
  EXPECT_EQ(run.counts().exit_status(), exit_status::ok);
  EXPECT_NE(run.counts().text(1.0).find("0 crashes | 0 timeouts | 1 known"), std::string::npos);
  run.examine(result, {{"ran", "fail"}}, "", "");
  EXPECT_EQ(run.counts().known, 1);
  EXPECT_EQ(run.counts().exit_status(), exit_status::ok);
  EXPECT_EQ(run.counts().summary(1.0).at("verdicts").at("known"), 1);
  EXPECT_EQ(run.counts().summary(1.0).at("verdicts").at("fail"), 0);
}

TEST(known_issues, another_kind_of_failure_stays_one) {
  for (const char* named : {"error", "timeout", "correct"}) {
    known_run run(entry(std::string("fails = \"") + named + "\""));
    const json result = run.time(crashed);
    EXPECT_FALSE(result.contains("known")) << named;
    EXPECT_EQ(run.counts().crashes, 1);
    EXPECT_EQ(run.counts().exit_status(), exit_status::failed);
    EXPECT_EQ(run.state(), "undecided");
    EXPECT_NE(run.text().find("it failed in another way: crash"), std::string::npos) << run.text();
  }
  known_run run(entry("fails = \"ran\""));
  EXPECT_EQ(run.time(crashed).at("known"), true);
}

TEST(known_issues, each_failing_link_needs_an_entry) {
  known_run run(entry("fails = \"correct\""));
  const json both =
      run.examine(run.time(json::object()), {{"correct", "fail"}, {"no_fallback", "fail"}});
  EXPECT_EQ(both.at("known"), false);
  EXPECT_EQ(run.counts().known, 0);
  EXPECT_EQ(run.counts().exit_status(), exit_status::failed);
  known_run two(entry("fails = \"correct\"") + entry("fails = \"no_fallback\""));
  EXPECT_EQ(two.examine(two.time(json::object()), {{"correct", "fail"}, {"no_fallback", "fail"}})
                .at("known"),
            true);
  EXPECT_EQ(two.counts().exit_status(), exit_status::ok);
}

// The result line alone showed the known failure; the evidence shows one more.
TEST(known_issues, what_the_evidence_adds_is_not_hidden) {
  known_run run(entry("fails = \"on_device\""));
  const json result = run.time({{"on_device", false}});
  EXPECT_EQ(result.at("known"), true);
  EXPECT_EQ(run.counts().known, 1);
  run.examine(result, {{"on_device", "fail"}, {"correct", "fail"}});
  EXPECT_EQ(run.counts().known, 0);
  EXPECT_EQ(run.counts().failed, 1);
  EXPECT_EQ(run.counts().exit_status(), exit_status::failed);
}

TEST(known_issues, a_crash_of_what_watches_a_check_is_never_excused) {
  known_run run(entry(""));
  const json line =
      run.examine(run.time({{"on_device", false}}), {{"on_device", "fail"}}, "crash", "evidence");
  EXPECT_EQ(line.at("known"), true);  // of the check
  EXPECT_EQ(run.counts().crashes, 1);
  EXPECT_EQ(run.counts().exit_status(), exit_status::tool);
}

TEST(known_issues, a_second_run_that_fails_as_known) {
  known_run run(entry("fails = \"crash\""));
  run.examine(run.time(json::object()), {{"ran", "fail"}}, "crash", "first_call");
  EXPECT_EQ(run.counts().crashes, 0);
  EXPECT_EQ(run.counts().known, 1);
  EXPECT_EQ(run.counts().exit_status(), exit_status::ok);
}

TEST(known_issues, an_unexpected_pass) {
  known_run run(entry("fails = \"correct\""));
  const json result = run.time(json::object());
  EXPECT_EQ(run.state(), "undecided") << "before the evidence nothing is known";
  run.examine(result, json::object());
  EXPECT_EQ(run.state(), "unexpected_pass");
  EXPECT_NE(run.text().find("the one check that it is about"), std::string::npos) << run.text();
  EXPECT_EQ(run.counts().exit_status(), exit_status::ok);
  known_run unknown(entry("fails = \"correct\""));
  unknown.examine(unknown.time(json::object()), {{"correct", "unknown"}});
  EXPECT_EQ(unknown.state(), "undecided") << "what was not examined did not pass";
  known_run timed_only(entry("fails = \"correct\""), false);
  timed_only.time(json::object());
  EXPECT_EQ(timed_only.state(), "undecided");
  known_run ran(entry("fails = \"crash\""), false);
  ran.time(json::object());
  EXPECT_EQ(ran.state(), "unexpected_pass");
  known_run not_run(entry(""));
  EXPECT_EQ(not_run.state(), "undecided");
}

TEST(known_issues, a_warning_is_known_where_its_link_is_named) {
  known_run named(entry("fails = \"path\""));
  const json line = named.examine(named.time(json::object()), {{"path", "warn"}});
  EXPECT_EQ(line.at("known"), false) << "it is no failure";
  EXPECT_EQ(named.state(), "seen");
  EXPECT_EQ(named.counts().known, 0);
  known_run any(entry(""));
  any.examine(any.time(json::object()), {{"path", "warn"}});
  EXPECT_EQ(any.state(), "unexpected_pass");
}

TEST(known_issues, an_expired_entry_excuses_nothing) {
  known_run run(entry("expires = 2026-11-29"));
  EXPECT_FALSE(run.time(crashed).contains("known"));
  EXPECT_EQ(run.state(), "expired");
  EXPECT_EQ(run.counts().exit_status(), exit_status::failed);
  known_run last_day(entry("expires = 2026-11-30"));
  EXPECT_EQ(last_day.time(crashed).at("known"), true);
}

TEST(known_issues, conditions) {
  const auto state = [](const std::string& condition, const json& gpu = "gfx90a:sramecc+:xnack-",
                        const std::string& build = "rocm") {
    known_run run(entry(condition), true, gpu, build);
    run.time(crashed);
    return run.state();
  };
  for (const char* holds :
       {"architecture = \"gfx90a\"", "architecture = [\"gfx9*\"]", "torch = \">=2.11, <2.12\"",
        "build = [\"cuda\", \"rocm\"]", "device = \"cuda\"", "device = \"hip:0\"",
        "device = \"hip\"", "device = \"cuda:*\""}) {
    EXPECT_EQ(state(holds), "seen") << holds;
  }
  for (const char* not_here : {"architecture = \"gfx103*\"", "torch = \"<2.11\"",
                               "build = \"cuda\"", "device = \"cpu\"", "device = \"cuda:1\""}) {
    EXPECT_EQ(state(not_here), "elsewhere") << not_here;
  }
  EXPECT_EQ(state("device = \"hip\"", "sm_90", "cuda"), "elsewhere");
  EXPECT_EQ(state("architecture = \"gfx9*\"", nullptr), "unknown");
  EXPECT_EQ(state("architecture = \"gfx9*\"\nbuild = \"cuda\"", nullptr), "elsewhere");
}

TEST(known_issues, an_entry_that_matches_no_check) {
  known_run run("[[issue]]\nid = \"activation/gleu\"\nreason = \"r\"\n");
  run.time(crashed);
  EXPECT_EQ(run.state(), "unmatched");
  EXPECT_EQ(run.text(),
            "known.toml:1 'activation/gleu' matches no check that there is; did you "
            "mean 'activation/gelu'?");
  EXPECT_EQ(run.counts().exit_status(), exit_status::failed);
  known_run in_other_dtype("[[issue]]\nid = \"activation/gelu[float16]\"\nreason = \"r\"\n");
  in_other_dtype.time(crashed);
  EXPECT_EQ(in_other_dtype.state(), "elsewhere");
}

std::vector<json> reported_run() {
  json crash = timed_result(crashed);
  crash.update({{"error", {{"type", ""}, {"message", "it died"}, {"trace", nullptr}}},
                {"note", "it died (timed)"},
                {"known", true},
                {"known_issues",
                 {{{"entry", "known.toml:1"},
                   {"covers", {"crash"}},
                   {"reason", "known since May"},
                   {"link", "https://example.org/1"}}}}});
  return {testing_support::run_record(),
          testing_support::engine_record(),
          {{"record", "schedule"},
           {"checks", {{{"id", crash["id"]}, {"device", "cuda:0"}}}},
           {"not_selected", json::array()}},
          crash,
          {{"record", "known_issue"},
           {"file", "known.toml"},
           {"line", 1},
           {"state", "seen"},
           {"text", "known.toml:1 was seen"}},
          {{"record", "known_issue"},
           {"file", "known.toml"},
           {"line", 7},
           {"state", "expired"},
           {"text", "known.toml:7 expired"}},
          testing_support::summary("Summary: 1 known", false)};
}

TEST(known_issues, in_the_table) {
  std::ostringstream out;
  const auto report = make_table_report(out, false, 0);
  for (const json& record : reported_run()) {
    report->on_record(record);
  }
  const std::string text = out.str();
  EXPECT_NE(text.find("activation/gelu[float32]  known"), std::string::npos) << text;
  EXPECT_NE(text.find("known issue: known since May (https://example.org/1, known.toml:1); it died "
                      "(timed)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("Known issues to look at\n\n  known.toml:7 expired\n"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("was seen"), std::string::npos) << text;
}

TEST(known_issues, in_junit_they_are_skipped) {
  const testing::temp_dir dir;
  const auto report = make_junit_report(dir.path() / "junit.xml");
  for (const json& record : reported_run()) {
    report->on_record(record);
  }
  std::ifstream file(dir.path() / "junit.xml");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_NE(text.find("tests=\"2\" failures=\"0\" errors=\"0\" skipped=\"2\""), std::string::npos)
      << text;
  EXPECT_NE(text.find("<skipped message=\"known issue: known since May (https://example.org/1, "
                      "known.toml:1); it died (timed)\"/>"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("<skipped message=\"known.toml:7 expired\"/>"), std::string::npos) << text;
  EXPECT_EQ(text.find("<system-out>"), text.rfind("<system-out>")) << "one for each test case";
}

}  // namespace
}  // namespace assay
