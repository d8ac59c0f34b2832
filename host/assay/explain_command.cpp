// SPDX-License-Identifier: Apache-2.0
#include "explain_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <istream>
#include <vector>

#include "diagnosis_text.hpp"
#include "diagnostic_workers.hpp"
#include "errors.hpp"
#include "host/diagnosis/diagnose.hpp"
#include "host/diagnosis/log_filter.hpp"
#include "rule_files.hpp"

namespace assay {

namespace {

using nlohmann::json;

constexpr std::size_t piece_bytes = std::size_t{1} << 20;

/// Feeds the whole log to the scan; answers its size.
std::uintmax_t read_log(std::istream& input, const std::string& name, text_scan& scan,
                        log_filter& filter) {
  std::vector<char> piece(piece_bytes);
  std::uintmax_t bytes = 0;
  while (input) {
    input.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    const auto count = static_cast<std::size_t>(input.gcount());
    bytes += count;
    scan.feed(filter.clean({piece.data(), count}));
  }
  if (input.bad()) {
    throw tool_error(fmt::format("{}: the log could not be read to its end", name));
  }
  scan.feed(filter.end());
  scan.end_line();
  return bytes;
}

/// Those whose texts occur. Loading every plugin to ask for its classifiers would take longer than
/// reading the log.
std::vector<diagnostic_workers::tool> woken(const knowledge& known, const text_scan& scan) {
  std::vector<diagnostic_workers::tool> tools;
  for (const known_classifier& one : known.classifiers) {
    if (std::any_of(one.any.begin(), one.any.end(),
                    [&](std::size_t pattern) { return !scan.of(pattern).empty(); })) {
      tools.push_back({one.id, "", plugin_file(one.plugin)});
    }
  }
  return tools;
}

json as_json(const std::vector<found_diagnosis>& found, const text_scan& scan,
             const std::string& platform, const std::vector<std::string>& remarks) {
  json list = json::array();
  for (const found_diagnosis& d : found) {
    list.push_back(to_json(d));
  }
  json lines = json::array();
  for (const auto& one : scan.suspicious()) {
    lines.push_back({{"line", one.line}, {"text", one.text}});
  }
  const bool known = !found.empty() && !found.front().withdrawn;
  return {{"class", known ? found.front().entry->klass : "unknown"},
          {"code", known ? json(found.front().entry->code) : json()},
          {"platform", platform.empty() ? json() : json(platform)},
          {"lines", scan.lines()},
          {"diagnoses", std::move(list)},
          {"suspicious_lines", std::move(lines)},
          {"remarks", remarks}};
}

void print_unknown(report_paper& paper, const text_scan& scan) {
  if (scan.lines() == 0) {
    paper.line("unknown: the log is empty");
    return;
  }
  paper.line(fmt::format("unknown: no rule recognises anything in these {} lines", scan.lines()));
  if (scan.suspicious().empty()) {
    paper.line("and no line looks like an error. Is it the whole log?");
    return;
  }
  paper.line("These lines look like errors:");
  for (const auto& one : scan.suspicious()) {
    paper.line(fmt::format("{:>7}: {}", one.line, printable(one.text)));
  }
}

void print_found(report_paper& paper, const std::vector<found_diagnosis>& found,
                 const std::string& platform) {
  bool first = true;
  for (const found_diagnosis& d : found) {
    if (d.withdrawn || !d.consequence_of.empty()) {
      continue;
    }
    if (!first) {
      paper.line("");
    }
    print_diagnosis(paper, to_json(d), platform);
    first = false;
  }
  for (const found_diagnosis& d : found) {
    if (!d.withdrawn && !d.consequence_of.empty()) {
      paper.labelled("", fmt::format("{} is a consequence of {}: {}", d.entry->code,
                                     d.consequence_of, d.entry->title));
    } else if (d.withdrawn) {
      paper.labelled("", withdrawn_text(to_json(d)));
    }
  }
}

}  // namespace

int explain(const explain_request& request, const installation& here, std::istream& input,
            report_paper& paper) {
  const knowledge known = rule_knowledge(here, request.options, std::cerr);
  if (request.catalogue) {
    paper.out() << catalogue_as_markdown(known);
    return exit_status::ok;
  }
  text_scan scan(known);
  log_filter filter;
  const std::string name = request.file == "-" ? "standard input" : request.file.string();
  if (request.file == "-") {
    read_log(input, name, scan, filter);
  } else {
    std::error_code error;
    std::ifstream file(request.file, std::ios::binary);
    if (std::filesystem::is_directory(request.file, error) || !file) {
      throw usage_error(fmt::format(
          "the log {} cannot be read; name a file that you may read, or - for standard input",
          name));
    }
    read_log(file, name, scan, filter);
  }

  failure_facts facts;
  facts.platform = request.here                       ? this_platform()
                   : request.options.platform.empty() ? filter.platform()
                                                      : request.options.platform;
  facts.log = scan.excerpt();
  const diagnoser judge(known);
  std::vector<found_diagnosis> found = judge.by_rules(facts, scan);
  std::vector<std::string> remarks;
  diagnostic_workers workers(here, request.options,
                             request.here ? read_catalogue(here, request.options) : catalogue());
  if (request.here) {
    workers.look_at({}, request.options.architecture);
    workers.ask(wanted_probes(found));
  }
  workers.use_classifiers(woken(known, scan));
  take_answers(workers.classify({failure_json(facts)}).front(), judge, found, remarks);
  found = diagnoser::settle(std::move(found), workers.answers());

  const bool recognised = !found.empty() && !found.front().withdrawn;
  if (request.json) {
    paper.line(as_json(found, scan, facts.platform, remarks)
                   .dump(2, ' ', false, json::error_handler_t::replace));
  } else {
    recognised ? print_found(paper, found, facts.platform) : print_unknown(paper, scan);
    for (const std::string& remark : remarks) {
      std::cerr << "assay: " << printable(remark) << '\n';
    }
  }
  return recognised ? exit_status::ok : exit_status::failed;
}

}  // namespace assay
