// SPDX-License-Identifier: Apache-2.0
#include "explain_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <istream>
#include <iterator>
#include <optional>
#include <set>
#include <vector>

#include "diagnosis_text.hpp"
#include "diagnostic_workers.hpp"
#include "errors.hpp"
#include "host/diagnosis/diagnose.hpp"
#include "host/diagnosis/log_filter.hpp"
#include "plugin_survey.hpp"
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
std::vector<diagnostic_workers::tool> woken(const knowledge& known, const text_scan& scan,
                                            const run_options& options,
                                            std::vector<std::string>& remarks) {
  const plugin_judge judge(options);
  std::vector<diagnostic_workers::tool> tools;
  for (const known_classifier& one : known.classifiers) {
    if (std::any_of(one.any.begin(), one.any.end(),
                    [&](std::size_t pattern) { return !scan.of(pattern).empty(); })) {
      const surveyed_file plugin = judge.look_at(plugin_file(one.plugin));
      if (plugin.status.empty()) {
        tools.push_back({one.id, "", plugin.file});
      } else {
        remarks.push_back(fmt::format("classifier {} was not asked: its plugin is {}: {}", one.id,
                                      plugin.status, plugin.reason));
      }
    }
  }
  return tools;
}

using line_list = std::vector<text_scan::occurrence>;

/// The lines that look like errors, less those that the rules and classifiers of what was found
/// know: what a notice leaves unexplained, say.
line_list unexplained(const knowledge& known, const text_scan& scan,
                      const std::vector<found_diagnosis>& found) {
  std::set<std::size_t> explained;
  const auto add = [&](const pattern_list& patterns) {
    for (const std::size_t pattern : patterns) {
      for (const text_scan::occurrence& one : scan.of(pattern)) {
        explained.insert(one.line);
      }
    }
  };
  for (const found_diagnosis& d : found) {
    for (const rule& r : known.rules) {
      if (!d.withdrawn && r.code == d.entry->code) {
        add(r.all);
        add(r.any);
      }
    }
    for (const known_classifier& one : known.classifiers) {
      if (d.by == "classifier " + one.id) {
        add(one.any);
      }
    }
  }
  line_list lines;
  std::copy_if(scan.suspicious().begin(), scan.suspicious().end(), std::back_inserter(lines),
               [&](const text_scan::occurrence& one) { return !explained.contains(one.line); });
  return lines;
}

/// The gravest of what was found; nothing where that is nothing.
std::optional<severity> gravest(const std::vector<found_diagnosis>& found) {
  std::optional<severity> most;
  for (const found_diagnosis& d : found) {
    if (!d.withdrawn && d.consequence_of.empty()) {
      most = std::max(most.value_or(severity::notice), d.entry->severity);
    }
  }
  return most;
}

json lines_as_json(const line_list& lines) {
  json list = json::array();
  for (const auto& one : lines) {
    list.push_back({{"line", one.line}, {"text", one.text}});
  }
  return list;
}

json as_json(const std::vector<found_diagnosis>& found, const text_scan& scan,
             const line_list& left, const std::string& platform,
             const std::vector<std::string>& remarks) {
  json list = json::array();
  for (const found_diagnosis& d : found) {
    list.push_back(to_json(d));
  }
  const bool known = !found.empty() && !found.front().withdrawn;
  return {{"class", known ? found.front().entry->klass : "unknown"},
          {"code", known ? json(found.front().entry->code) : json()},
          {"platform", platform.empty() ? json() : json(platform)},
          {"lines", scan.lines()},
          {"diagnoses", std::move(list)},
          {"suspicious_lines", lines_as_json(scan.suspicious())},
          {"unexplained_lines", lines_as_json(left)},
          {"remarks", remarks}};
}

void print_lines(report_paper& paper, const line_list& lines) {
  for (const auto& one : lines) {
    paper.line(fmt::format("{:>7}: {}", one.line, printable(one.text)));
  }
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
  print_lines(paper, scan.suspicious());
}

}  // namespace

int explain(const explain_request& request, const installation& here, std::istream& input,
            report_paper& paper) {
  const std::string& said = request.options.platform;
  if (request.here && !said.empty() && said != this_platform()) {
    throw usage_error(fmt::format(
        "--here says that the log is of this machine, which is {}, and --platform says {}; leave "
        "one of them out",
        this_platform(), said));
  }
  const knowledge known = rule_knowledge(here, request.options, std::cerr);
  if (request.catalogue) {
    paper.out() << (request.json ? catalogue_as_json(known).dump(2) + "\n"
                                 : catalogue_as_markdown(known));
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
  facts.platform = request.here ? this_platform() : said.empty() ? filter.platform() : said;
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
  workers.use_classifiers(woken(known, scan, request.options, remarks));
  take_answers(workers.classify({failure_json(facts)}).front(), judge, found, remarks);
  found = diagnoser::settle(std::move(found), workers.answers());

  const std::optional<severity> worst = gravest(found);
  const bool recognised = worst.has_value();
  const line_list left = unexplained(known, scan, found);
  const bool error_left = recognised && worst != severity::error && !left.empty();
  if (request.json) {
    paper.line(as_json(found, scan, left, facts.platform, remarks)
                   .dump(2, ' ', false, json::error_handler_t::replace));
  } else {
    recognised ? print_found(paper, found, facts.platform) : print_unknown(paper, scan);
    print_withdrawn(paper, found);
    if (error_left) {
      paper.line("\nThese lines look like errors, and nothing above explains them:");
      print_lines(paper, left);
    }
    for (const std::string& remark : remarks) {
      std::cerr << "assay: " << printable(remark) << '\n';
    }
  }
  if (!workers.why_none_started().empty()) {
    std::cerr << "assay: " << printable(workers.why_none_started()) << '\n';
    return exit_status::tool;
  }
  return recognised && !error_left ? exit_status::ok : exit_status::failed;
}

}  // namespace assay
