// SPDX-License-Identifier: Apache-2.0
#include "baseline_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>

#include "errors.hpp"
#include "option_values.hpp"

namespace assay {

namespace {

using nlohmann::json;

json as_json(const stored_run& run) {
  json environment = json::object();
  for (const auto& [name, value] : run.environment) {
    environment[name] = value;
  }
  return {{"name", run.name},       {"number", run.number},   {"saved", run.saved},
          {"started", run.started}, {"summary", run.summary}, {"environment", environment}};
}

int list(const run_store& store, bool as_one_object, report_paper& paper) {
  const std::vector<stored_run> runs = store.runs();
  if (as_one_object) {
    json all = json::array();
    for (const stored_run& run : runs) {
      all.push_back(as_json(run));
    }
    paper.line(json{{"runs", all}}.dump(2, ' ', false, json::error_handler_t::replace));
    return exit_status::ok;
  }
  for (const stored_run& run : runs) {
    paper.line(fmt::format("{}  {}", paper.colored(colors::cyan, name_of(run)), run.summary));
  }
  if (runs.empty()) {
    paper.line("No run is kept; assay run --save NAME keeps one.");
  }
  return exit_status::ok;
}

int show(const run_store& store, const std::string& wanted, report_paper& paper) {
  const stored_run run = store.find(wanted);
  paper.line(paper.colored(colors::cyan, name_of(run)));
  for (const auto& [name, value] : run.environment) {
    paper.labelled(fmt::format("  {}: ", name), value);
  }
  paper.line(run.summary);
  return exit_status::ok;
}

std::vector<stored_run> to_remove(const run_store& store, const std::vector<std::string>& names) {
  std::vector<stored_run> chosen;
  const std::vector<stored_run> all = store.runs();
  for (const std::string& name : names) {
    const stored_run newest = store.find(name);  // throws where there is none
    if (name.find('@') != std::string::npos) {
      chosen.push_back(newest);
      continue;
    }
    std::copy_if(all.begin(), all.end(), std::back_inserter(chosen),
                 [&](const stored_run& run) { return run.name == name; });
  }
  return chosen;
}

void write_document(const std::string& text, const std::filesystem::path& file,
                    report_paper& paper) {
  if (file == "-") {
    paper.out() << text << std::flush;
    return;
  }
  std::error_code error;
  if (std::filesystem::exists(file, error)) {
    throw usage_error(fmt::format("{} is there already; name a file that is not", file.string()));
  }
  errno = 0;
  std::ofstream out(file, std::ios::binary);
  if (!(out << text << std::flush)) {
    throw tool_error(fmt::format("cannot write {}: {}", file.string(), write_failure(errno)));
  }
}

std::string text_of_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

int import(run_store& store, const baseline_request& request, report_paper& paper) {
  const std::string& name = request.names.front();
  parse_run_name("assay baseline import", name);
  const saved_run run = read_saved_run(request.file.lexically_normal());
  if (!run.remarks.empty()) {
    throw usage_error(fmt::format("{}: {}; only a whole run is kept", request.file.string(),
                                  run.remarks.front()));
  }
  const stored_run kept = store.save(name, run, text_of_file(request.file));
  paper.line(fmt::format("Kept as {}", name_of(kept)));
  return exit_status::ok;
}

}  // namespace

std::string name_of(const stored_run& run) {
  return fmt::format("{}@{}, kept {}", run.name, run.number, run.saved);
}

saved_run read_kept_run(const run_store& store, const stored_run& run) {
  std::istringstream text(store.document(run));
  return read_saved_run(text, fmt::format("{}@{}", run.name, run.number));
}

int baseline_command(const baseline_request& request, report_paper& paper) {
  using access = run_store::access;
  const bool writes = request.action == "remove" || request.action == "import";
  try {
    run_store store(request.options.store, writes ? access::writing : access::reading);
    if (request.action == "list") {
      return list(store, request.json, paper);
    }
    if (request.action == "show") {
      return show(store, request.names.front(), paper);
    }
    if (request.action == "export") {
      write_document(store.document(store.find(request.names.front())), request.file, paper);
      return exit_status::ok;
    }
    if (request.action == "import") {
      return import(store, request, paper);
    }
    const std::vector<stored_run> runs = to_remove(store, request.names);
    store.remove(runs);
    for (const stored_run& run : runs) {
      paper.line(fmt::format("Removed {}", name_of(run)));
    }
    return exit_status::ok;
  } catch (const store_error& error) {
    throw usage_error(error.what());
  } catch (const results_error& error) {
    throw usage_error(error.what());
  }
}

}  // namespace assay
