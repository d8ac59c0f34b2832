// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <vector>

#include "collected_run.hpp"
#include "errors.hpp"
#include "known_issues.hpp"
#include "markup.hpp"
#include "reports.hpp"

namespace assay {
namespace {

using nlohmann::json;

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

struct suite {
  std::string name;
  int tests = 0;
  int failures = 0;
  int errors = 0;
  int skipped = 0;
  double seconds = 0.0;
  std::string cases;

  void add(const std::string& test, double elapsed, const std::string& content) {
    ++tests;
    seconds += elapsed;
    cases += fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\"",
                         xml_attribute(name), xml_attribute(test), elapsed);
    cases += content.empty() ? "/>\n" : fmt::format(">\n{}    </testcase>\n", content);
  }
};

std::string element(const std::string& name, const std::string& message, const std::string& type,
                    const std::string& text) {
  std::string out = fmt::format("      <{} message=\"{}\"", name, xml_attribute(message));
  if (!type.empty()) {
    out += fmt::format(" type=\"{}\"", xml_attribute(type));
  }
  return out + (text.empty() ? "/>\n" : fmt::format(">{}</{}>\n", xml_text(text), name));
}

std::string stream(const std::string& name, const std::string& text) {
  return text.empty() ? "" : fmt::format("      <{}>{}</{}>\n", name, xml_text(text), name);
}

std::string fault(const json& result, const std::string& status) {
  const json& error = result.contains("error") ? result["error"] : json();
  const std::string note = text_of(result, "note");
  std::string message = first_line(text_of(error, "message"));
  if (status != "error" || message.empty()) {
    const std::string end = end_of_process(result);
    message = !note.empty() ? note : end.empty() ? status : status + ": " + end;
  }
  const std::string type = text_of(error, "type");
  return element("error", message, status == "error" && !type.empty() ? type : status,
                 fault_text(result) + text_of(error, "trace"));
}

/// The chain link by link, for people.
std::string chain_text(const json& verdict) {
  std::string text;
  for (const char* name : {"ran", "on_device", "no_fallback", "correct", "path", "speed"}) {
    const json& link = member_of(member_of(verdict, "links"), name);
    const std::string why = text_of(link, "why");
    text += fmt::format("{}: {}{}{}\n", name, text_of(link, "state"), why.empty() ? "" : ": ", why);
  }
  return text;
}

std::string properties(const json& verdict) {
  std::string out = "      <properties>\n";
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) {
      out +=
          fmt::format("        <property name=\"{}\" value=\"{}\"/>\n", name, xml_attribute(value));
    }
  };
  add("verdict", text_of(verdict, "verdict"));
  add("headline", text_of(verdict, "headline"));
  add("path", text_of(verdict, "path"));
  add("bound", text_of(verdict, "bound"));
  return out + "      </properties>\n";
}

void add_check(suite& target, const collected_run::entry& entry) {
  const json& result = entry.result;
  const std::string test = entry.id + "@" + entry.device;
  if (result.is_null()) {
    ++target.skipped;
    target.add(test, 0.0, element("skipped", "did not run", "", ""));
    return;
  }
  const std::string status = text_of(result, "status");
  const std::string note = text_of(result, "note");
  const json& verdict = member_of(entry.evidence, "verdict");
  std::string content = verdict.is_object() ? properties(verdict) : "";
  const std::string second = text_of(entry.evidence, "status");
  const bool watching_failed =
      !second.empty() && second != "ok" && text_of(entry.evidence, "phase") == "evidence";
  std::string told;
  if (is_known(entry) && !watching_failed) {
    ++target.skipped;
    const std::string headline = text_of(verdict, "headline");
    content += element(
        "skipped",
        fmt::format("known issue: {}; {}", known_text(entry), headline.empty() ? note : headline),
        "", "");
    told = fault_text(result) + (verdict.is_object() ? chain_text(verdict) : "");
  } else if (status == "skipped") {
    ++target.skipped;
    const json& error = result.contains("error") ? result["error"] : json();
    content += element("skipped", note.empty() ? text_of(error, "message") : note, "", "");
  } else if (status != "ok") {
    ++target.errors;
    content += fault(result, status);
  } else if (text_of(verdict, "verdict") == "fail") {
    ++target.failures;
    content += element("failure", text_of(verdict, "headline"), "verdict", chain_text(verdict));
  } else if (flag_is(result, "on_device", false)) {
    ++target.failures;
    content += element(
        "failure",
        fmt::format("the output lies on {}, not on {}", output_devices(result), entry.device),
        "wrong device", note);
  } else if (!second.empty() && second != "ok") {
    ++target.errors;
    content += element("error",
                       "while its evidence was gathered: " +
                           first_line(text_of(member_of(entry.evidence, "error"), "message")),
                       second, "");
  }
  const std::string word = text_of(verdict, "verdict");
  const bool in_doubt = word == "warn" || word == "unknown";
  told += in_doubt ? chain_text(verdict) : "";
  content += stream("system-out", told + text_of(result, "stdout"));
  content += stream("system-err", warnings_text(result) +
                                      printed_text(result, "stderr", "standard error") +
                                      evidence_fault_text(entry) + repeats_text(entry));
  target.add(test, number_of(result, "elapsed_s"), content);
}

std::vector<suite> make_suites(const collected_run& run) {
  std::vector<suite> suites;
  std::map<std::string, std::size_t> places;
  const auto named = [&](const std::string& name) -> suite& {
    const auto [place, is_new] = places.emplace(name, suites.size());
    if (is_new) {
      suites.emplace_back().name = name;
    }
    return suites[place->second];
  };
  for (const collected_run::entry& entry : run.entries) {
    if (!entry.baseline) {
      add_check(named(entry.id.substr(0, entry.id.find('/'))), entry);
    }
  }
  for (const json& plugin : run.plugins) {
    if (text_of(plugin, "status") == "refused") {
      suite& target = named("plugins");
      ++target.errors;
      target.add(text_of(plugin, "file"), 0.0,
                 element("error", text_of(plugin, "reason"), "refused", "") +
                     stream("system-err", text_of(plugin, "stderr")));
    }
  }
  for (const json& issue : run.known_issues) {
    if (needs_a_look(issue)) {
      suite& target = named("known issues");
      ++target.skipped;
      target.add(fmt::format("{}:{:.0f}", text_of(issue, "file"), number_of(issue, "line")), 0.0,
                 element("skipped", text_of(issue, "text"), "", ""));
    }
  }
  for (const json* engine : {&run.engine, &run.engine_failure}) {
    if (!engine->is_null() && text_of(*engine, "status") != "ready") {
      suite& target = named("engine");
      ++target.errors;
      target.add("LibTorch", 0.0,
                 element("error", text_of(*engine, "reason"), text_of(*engine, "status"), "") +
                     stream("system-err", text_of(*engine, "stderr")));
    }
  }
  return suites;
}

std::string document(const collected_run& run) {
  const std::vector<suite> suites = make_suites(run);
  suite total;
  std::string body;
  for (const suite& s : suites) {
    total.tests += s.tests;
    total.failures += s.failures;
    total.errors += s.errors;
    total.skipped += s.skipped;
    total.seconds += s.seconds;
    body += fmt::format(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" "
        "time=\"{:.3f}\">\n{}  </testsuite>\n",
        xml_attribute(s.name), s.tests, s.failures, s.errors, s.skipped, s.seconds, s.cases);
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites name=\"assay\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" "
      "time=\"{:.3f}\">\n{}</testsuites>\n",
      total.tests, total.failures, total.errors, total.skipped, total.seconds, body);
}

}  // namespace

std::string junit_document(const collected_run& run) { return document(run); }

namespace {

class junit_report final : public record_sink {
 public:
  explicit junit_report(std::filesystem::path file) : file_(std::move(file)) {}

  void on_record(const json& record) override {
    run_.add(record);
    if (text_of(record, "record") == "summary") {
      write(document(run_));
    }
  }

 private:
  // A reader never sees half a report: it is moved to its place when it is whole. What is there
  // already and is no ordinary file (a pipe, a device) is written to, never replaced.
  void write(const std::string& text) const {
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::file_status there = fs::status(file_, error);
    if (fs::exists(there) && !fs::is_regular_file(there)) {
      put(text, file_);
      return;
    }
    const fs::path target = fs::exists(there) ? fs::canonical(file_, error) : file_;
    fs::path partial = target;
    partial += ".partial";
    try {
      put(text, partial);
      fs::rename(partial, target);
    } catch (const fs::filesystem_error& e) {
      fs::remove(partial, error);
      fail(e.code().message());
    } catch (const tool_error&) {
      fs::remove(partial, error);
      throw;
    }
  }

  void put(const std::string& text, const std::filesystem::path& file) const {
    errno = 0;
    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    if (!(out << text << std::flush)) {
      fail(write_failure(errno));
    }
  }

  [[noreturn]] void fail(const std::string& reason) const {
    throw tool_error(fmt::format("cannot write the JUnit report {}: {}", file_.string(), reason));
  }

  std::filesystem::path file_;
  collected_run run_;
};

}  // namespace

std::unique_ptr<record_sink> make_junit_report(const std::filesystem::path& file) {
  return std::make_unique<junit_report>(file);
}

}  // namespace assay
