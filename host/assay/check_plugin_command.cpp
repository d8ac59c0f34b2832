// SPDX-License-Identifier: Apache-2.0
#include "check_plugin_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <vector>

#include "collected_run.hpp"
#include "conformance/examine.hpp"
#include "errors.hpp"
#include "host/common/plugin_files.hpp"
#include "toml_identity.hpp"
#include "worker_pool.hpp"

namespace assay {

namespace {

using nlohmann::json;
namespace fs = std::filesystem;
using namespace conformance;

constexpr std::string_view rule_suffix = ".assay.toml";

/// The plugins and rule files at these places, in order, each once.
std::vector<examined_file> files_at(const std::vector<fs::path>& places) {
  std::vector<fs::path> found;
  for (const fs::path& place : places) {
    std::error_code error;
    if (!fs::exists(place, error)) {
      throw usage_error(
          fmt::format("there is no file {}; name a plugin (*{}), a rule file (*{}) or "
                      "a folder with some",
                      place.string(), plugin_suffix(), rule_suffix));
    }
    if (!fs::is_directory(place, error)) {
      found.push_back(place);
      continue;
    }
    std::vector<fs::path> inside;
    for (const auto& entry : fs::directory_iterator(place, error)) {
      if (named_like_a_plugin(entry.path()) || named_like_a_toml_plugin(entry.path())) {
        inside.push_back(entry.path());
      }
    }
    if (inside.empty()) {
      throw usage_error(
          fmt::format("no plugin lies in {}; a plugin's name ends in {}, that of a "
                      "rule file in {}",
                      place.string(), plugin_suffix(), rule_suffix));
    }
    std::sort(inside.begin(), inside.end());
    found.insert(found.end(), inside.begin(), inside.end());
  }
  std::vector<examined_file> files;
  for (const fs::path& file : found) {
    const fs::path whole = fs::absolute(file).lexically_normal();
    if (std::none_of(files.begin(), files.end(),
                     [&](const examined_file& one) { return one.file == whole; })) {
      files.emplace_back().file = whole;
    }
  }
  return files;
}

void take_rule_file(examined_file& one, bool trust_everything) {
  const knowledge mine = read_knowledge({one.file}, trust_everything);
  if (mine.packs.empty()) {
    return;
  }
  const rule_pack& pack = mine.packs.back();
  one.id = pack.id;
  if (pack.refused.empty()) {
    one.facts = fmt::format("rules {} {}, {}: {} diagnoses, {} rules", pack.id, pack.version,
                            pack.vendor, pack.entry_count, pack.rule_count);
  }
}

class examination {
 public:
  examination(const check_plugin_request& request, const installation& here)
      : request_(request), here_(here), files_(files_at(request.places)) {}

  void run(const std::optional<engine_choice>& engine, const std::string& no_engine_reason) {
    const run_options& options = request_.options;
    for (examined_file& one : files_) {
      if (!named_like_a_toml_plugin(one.file)) {
        examine_binary(one);
        examine_registration(one, here_, options);
      } else if (const auto who = read_toml_identity(one.file); who && who->has_checks) {
        examine_registration(one, here_, options);
      } else {
        take_rule_file(one, options.trust_plugins);
      }
    }
    const catalogue installed = read_catalogue(here_, options);
    std::vector<json> plugins = installed.plugins;
    for (examined_file& one : files_) {
      if (one.loaded()) {
        examine_names(one, installed);
        plugins.push_back(one.plugin);
      }
    }
    counts_ = examine_checks(files_, here_, options, engine, no_engine_reason);
    if (counts_.interrupted) {
      return;
    }
    examine_rules_and_tools(plugins);
    for (examined_file& one : files_) {
      settle(one.findings);
      if (named_like_a_toml_plugin(one.file)) {
        speak_of_keys(one.findings);
      }
    }
  }

  [[nodiscard]] int exit_status() const {
    const bool errors = count(level::error) > 0;
    const bool warnings = request_.strict && count(level::warning) > 0;
    return counts_.interrupted        ? exit_status::interrupted
           : errors || warnings       ? exit_status::failed
           : !counts_.not_run.empty() ? exit_status::tool
                                      : exit_status::ok;
  }

  [[nodiscard]] std::string summary() const {
    const auto counted = [](std::size_t n, const char* word) {
      return fmt::format("{} {}{}", n, word, n == 1 ? "" : "s");
    };
    const int status = exit_status();
    return fmt::format("Check: {} | {} runs of checks, {} skipped, {} failed | {}, {}, {} | {}",
                       counted(files_.size(), "file"), counts_.ran, counts_.skipped, counts_.failed,
                       counted(count(level::error), "error"),
                       counted(count(level::warning), "warning"),
                       counted(count(level::note), "note"),
                       counts_.interrupted             ? "interrupted"
                       : status == exit_status::failed ? "not fit to be shipped"
                       : status == exit_status::tool   ? "not all was examined"
                                                       : "passed");
  }

  [[nodiscard]] const std::vector<examined_file>& files() const { return files_; }
  [[nodiscard]] const check_counts& counts() const { return counts_; }
  [[nodiscard]] std::size_t count(level wanted) const {
    std::size_t found = 0;
    for (const examined_file& one : files_) {
      found +=
          static_cast<std::size_t>(std::count_if(one.findings.begin(), one.findings.end(),
                                                 [&](const finding& f) { return f.is == wanted; }));
    }
    return found;
  }

 private:
  void examine_rules_and_tools(const std::vector<json>& plugins) {
    const run_options& options = request_.options;
    const std::vector<fs::path> others = other_rule_files(files_, here_, options);
    std::vector<fs::path> all = others;
    for (const examined_file& one : files_) {
      if (named_like_a_toml_plugin(one.file)) {
        all.push_back(one.file);
      } else if (const fs::path beside = rules_beside(one.file); fs::exists(beside)) {
        all.push_back(beside);  // what a plugin's probes find stands there
      }
    }
    const knowledge known = read_knowledge(all, options.trust_plugins);
    std::vector<fs::path> before = others;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      examined_file& one = files_[i];
      if (!named_like_a_toml_plugin(one.file)) {
        examine_diagnostics(one, here_, options, known);
        continue;
      }
      std::vector<fs::path> behind;
      for (std::size_t later = i + 1; later < files_.size(); ++later) {
        if (named_like_a_toml_plugin(files_[later].file)) {
          behind.push_back(files_[later].file);
        }
      }
      const bool refused = !one.plugin.is_null() && !one.loaded();
      if (!refused) {
        std::vector<json> with_neighbours = plugins;
        load_neighbours(one, with_neighbours);
        examine_rules(one, before, behind, with_neighbours, options.trust_plugins);
      }
      before.push_back(one.file);
    }
  }

  /// "DIR/x.assay.so" -> "DIR/x.assay.toml"
  static fs::path rules_beside(const fs::path& plugin) {
    std::string name = plugin.string();
    const std::string suffix = plugin_suffix();
    if (name.ends_with(suffix)) {
      name.erase(name.size() - suffix.size());
    }
    return name + std::string(rule_suffix);
  }

  /// A rule file's plugin may lie beside it and not be among what is examined.
  void load_neighbours(const examined_file& one, std::vector<json>& plugins) const {
    std::string name = one.file.string();
    name.erase(name.size() - rule_suffix.size());
    const fs::path plugin = name + plugin_suffix();
    const auto known = [&](const json& record) {
      std::error_code error;
      return fs::equivalent(text_of(record, "file"), plugin, error);
    };
    if (!fs::exists(plugin) || std::any_of(plugins.begin(), plugins.end(), known)) {
      return;
    }
    examined_file beside;
    beside.file = plugin;
    examine_registration(beside, here_, request_.options);
    plugins.push_back(beside.plugin);
  }

  const check_plugin_request& request_;
  const installation& here_;
  std::vector<examined_file> files_;
  check_counts counts_;
};

void print_finding(report_paper& paper, const finding& f) {
  const std::string_view color = f.is == level::error     ? colors::red
                                 : f.is == level::warning ? colors::yellow
                                                          : "";
  const std::string subject = f.subject.empty() ? "" : f.subject + ": ";
  paper.line(fmt::format("  {} [{}] {}{}: {}; {}",
                         paper.colored(color, fmt::format("{:<7}", name_of(f.is))), f.kind, subject,
                         f.what, f.why, f.advice));
}

void print(report_paper& paper, const examination& done) {
  for (const examined_file& one : done.files()) {
    paper.line(one.file.string());
    if (!one.facts.empty()) {
      paper.line("  " + printable(one.facts));
    }
    for (const finding& f : one.findings) {
      print_finding(paper, f);
    }
  }
  if (!done.counts().not_run.empty()) {
    paper.line("");
    paper.line("The checks were not run: " + done.counts().not_run);
  }
  paper.line("");
  paper.line(done.summary());
}

json as_json(const examination& done) {
  json files = json::array();
  for (const examined_file& one : done.files()) {
    json findings = json::array();
    for (const finding& f : one.findings) {
      findings.push_back({{"severity", name_of(f.is)},
                          {"kind", f.kind},
                          {"subject", f.subject},
                          {"what", f.what},
                          {"why", f.why},
                          {"advice", f.advice}});
    }
    files.push_back({{"file", one.file.string()},
                     {"id", one.id},
                     {"facts", one.facts},
                     {"findings", std::move(findings)}});
  }
  const check_counts& counts = done.counts();
  return {{"assay_version", ASSAY_VERSION},
          {"files", std::move(files)},
          {"ran", counts.ran},
          {"skipped", counts.skipped},
          {"failed", counts.failed},
          {"not_run", counts.not_run},
          {"errors", done.count(level::error)},
          {"warnings", done.count(level::warning)},
          {"notes", done.count(level::note)},
          {"text", done.summary()},
          {"exit_status", done.exit_status()}};
}

}  // namespace

int check_plugin(const check_plugin_request& request, const installation& here,
                 const std::optional<engine_choice>& engine, const std::string& no_engine_reason,
                 report_paper& paper) {
  platform::catch_interrupts();
  examination examined(request, here);
  try {
    examined.run(engine, no_engine_reason);
  } catch (const interrupted_error&) {
    return exit_status::interrupted;
  }
  if (request.json) {
    paper.line(as_json(examined).dump(2, ' ', false, json::error_handler_t::replace));
  } else {
    print(paper, examined);
  }
  return examined.exit_status();
}

}  // namespace assay
