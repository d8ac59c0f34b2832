// SPDX-License-Identifier: Apache-2.0
#include "run_keeping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "baseline_command.hpp"
#include "compare_command.hpp"
#include "errors.hpp"

namespace assay {

namespace {

constexpr int rounds = 2;
constexpr std::size_t most_controls = 12;

std::string key_of(const std::string& device, const std::string& id) { return device + " " + id; }

/// Checks that tell how fast the machine is meanwhile: evenly chosen from those that were timed and
/// are in no doubt.
std::vector<std::string> controls_of(const saved_run& now, const std::set<std::string>& in_doubt) {
  std::vector<std::string> timed;
  for (const auto& [key, check] : now.checks) {
    if (check.status == "ok" && check.times.wall_us && !in_doubt.contains(check.id)) {
      timed.push_back(check.id);
    }
  }
  std::vector<std::string> chosen;
  const std::size_t count = std::min(most_controls, timed.size());
  for (std::size_t i = 0; i < count; ++i) {
    chosen.push_back(timed[i * timed.size() / count]);
  }
  return chosen;
}

}  // namespace

std::optional<saved_run> run_of_these(const installation& here, const run_options& options,
                                      const std::vector<std::string>& ids,
                                      const std::optional<engine_choice>& engine,
                                      const std::string& no_engine_reason,
                                      const std::vector<std::string>& command_line) {
  run_options alone = options;
  alone.enable = ids;
  alone.split = alone.trace_libs = false;
  alone.baseline.clear();
  alone.chrome_trace_dir.reset();
  alone.known_issues.clear();
  result_text sink;
  const int status = run_checks(here, alone, engine, no_engine_reason, command_line, {&sink});
  const bool done = status == exit_status::ok || status == exit_status::failed;
  return done ? std::optional(sink.run("this run")) : std::nullopt;
}

run_keeping::run_keeping(const run_options& options)
    : options_(options), rules_(rules_of(options)) {
  if (!options.full_environment) {
    record_ = result_text(redaction::of_this_machine());  // a kept run can be exported
  }
  try {
    store_.emplace(options.store,
                   options.save.empty() ? run_store::access::reading : run_store::access::writing);
    if (!options.against.empty()) {
      const stored_run run = store_->find(options.against);
      before_name_ = name_of(run);
      before_.push_back(read_kept_run(*store_, run));
    }
  } catch (const store_error& error) {
    throw usage_error(error.what());
  }
}

int run_keeping::conclude(int status, const measure_again& again, report_paper& paper) {
  if (status == exit_status::interrupted || status == exit_status::tool) {
    paper.line(fmt::format("{}: the run did not come to its end",
                           options_.save.empty() ? "Not compared" : "Not kept"));
    return status;
  }
  const saved_run now = record_.run("this run");
  bool regression = false;
  if (!before_.empty()) {
    paper.line(fmt::format("\nAgainst {}\n", before_name_));
    comparison found = compare(before_, {now}, rules_);
    confirm(found, now, again, paper);
    print_comparison(paper, found, rules_);
    regression = found.regression;
  }
  if (!options_.save.empty()) {
    keep(now, paper);
  }
  return regression ? exit_status::regression : status;
}

// A run may have taken an hour: where the store refuses it, it goes elsewhere.
void run_keeping::keep(const saved_run& now, report_paper& paper) {
  namespace fs = std::filesystem;
  try {
    const stored_run kept = store_->save(options_.save, now, record_.text());
    paper.line(fmt::format("Kept as {}", name_of(kept)));
  } catch (const store_error& error) {
    std::string name = fmt::format("assay-{}-{}.jsonl", options_.save, now.started);
    std::replace(name.begin(), name.end(), ':', '.');  // no letter of a file's name on Windows
    std::error_code no_folder;
    const fs::path file = fs::temp_directory_path(no_folder) / name;
    std::ofstream out(file, std::ios::binary);
    const bool written = !no_folder && (out << record_.text() << std::flush);
    throw tool_error(fmt::format(
        "{}; the run was {}", error.what(),
        written ? fmt::format("written to {0} instead: assay baseline import {0} {1} keeps it",
                              file.string(), options_.save)
                : "not kept"));
  }
}

// What this machine did by chance it will hardly do thrice: slower is what was so each time, in a
// fresh process, beside checks that nobody doubts.
void run_keeping::confirm(comparison& found, const saved_run& now, const measure_again& again,
                          report_paper& paper) {
  if (found.slower.empty()) {
    return;
  }
  std::set<std::string> in_doubt;
  for (const time_change& change : found.slower) {
    in_doubt.insert(change.id);
  }
  std::vector<std::string> ids(in_doubt.begin(), in_doubt.end());
  const std::vector<std::string> controls = controls_of(now, in_doubt);
  ids.insert(ids.end(), controls.begin(), controls.end());
  paper.line(
      fmt::format("{} seem{} slower: measured again, {} times, beside {} others",
                  in_doubt.size() == 1 ? "1 check" : fmt::format("{} checks", in_doubt.size()),
                  in_doubt.size() == 1 ? "s" : "", rounds, controls.size()));
  std::map<std::string, int> confirmed;
  for (int round = 0; round < rounds; ++round) {
    const std::optional<saved_run> measured = again(ids);
    if (!measured) {
      found.remarks.emplace_back(
          "measuring again was interrupted; what follows is of one run alone");
      return;
    }
    const comparison repeated = compare(before_, {*measured}, rules_);
    for (const time_change& change : repeated.slower) {
      ++confirmed[key_of(change.device, change.id)];
    }
  }
  std::vector<time_change> slower;
  for (const time_change& change : found.slower) {
    const bool always = confirmed[key_of(change.device, change.id)] == rounds;
    (always ? slower : found.not_confirmed).push_back(change);
  }
  found.slower = std::move(slower);
  found.regression = is_regression(found, rules_);
}

}  // namespace assay
