// SPDX-License-Identifier: Apache-2.0
#include "diagnosis_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <utility>

#include "host/platform/platform.hpp"

namespace assay {

namespace {

using nlohmann::json;

std::string_view color_of(const json& diagnosis) {
  const std::string severity = text_of(diagnosis, "severity");
  return severity == "error" ? colors::red : severity == "warning" ? colors::yellow : colors::cyan;
}

// A command must stay whole to be pasted; other text may be broken into lines.
void print_step(report_paper& paper, const std::string& label, const std::string& steps) {
  std::string before = label;
  std::istringstream lines(steps);
  for (std::string step; std::getline(lines, step);) {
    if (step.starts_with("$ ")) {
      paper.line(before + printable(step));
    } else {
      paper.labelled(before, step);
    }
    before.assign(label.size(), ' ');
  }
}

/// Why a diagnosis that a probe refuted is none, in a line.
std::string withdrawn_text(const json& d) {
  const json& probes = list_of(d, "probes");
  return fmt::format("not {}: the text looks like it, but {}", text_of(d, "code"),
                     probes.empty() ? "a probe says no" : probes.front().get<std::string>());
}

/// How grave it is here. A warning that fails a check is no mere warning.
std::string gravity(const json& d, bool failed_check) {
  const std::string severity = text_of(d, "severity");
  return failed_check && severity == "warning" ? "warning that failed a check" : severity;
}

void print_title(report_paper& paper, const json& d, bool failed_check = false) {
  paper.line(paper.colored(failed_check ? colors::red : color_of(d), text_of(d, "code")) +
             fmt::format("  ({}, {}, {})", text_of(d, "confidence"), gravity(d, failed_check),
                         text_of(d, "category")));
  paper.labelled("  ", text_of(d, "title"));
}

void print_cause(report_paper& paper, const json& d) {
  paper.labelled("  why:  ", text_of(d, "cause"));
}

void print_proof(report_paper& paper, const json& d) {
  std::string label = "seen: ";
  for (const json& line : list_of(d, "evidence")) {
    paper.line("  " + std::exchange(label, "      ") + printable(line.get<std::string>()));
  }
  label = "probe: ";
  for (const json& line : list_of(d, "probes")) {
    paper.labelled("  " + std::exchange(label, "       "), line.get<std::string>());
  }
}

/// The catalogue's steps behind those that are known for this case.
void print_steps(report_paper& paper, const json& d, const std::string& platform) {
  std::string label = "do:   ";
  if (const std::string here = text_of(d, "advice_here"); !here.empty()) {
    print_step(paper, "  " + std::exchange(label, "      "), here);
  }
  const json& advice = member_of(d, "advice");
  const bool one_unix = list_of(advice, "linux") == list_of(advice, "wsl");
  static constexpr std::array<std::pair<const char*, const char*>, 4> kinds{
      {{"any", ""}, {"linux", "Linux: "}, {"wsl", "WSL: "}, {"windows", "Windows: "}}};
  for (const auto& [kind, name] : kinds) {
    const json& steps = list_of(advice, kind);
    const std::string_view which = kind;
    const bool everywhere = which == "any";
    if (steps.empty() || (!everywhere && !platform.empty() && platform != kind) ||
        (platform.empty() && which == "wsl" && one_unix)) {
      continue;
    }
    std::string prefix = everywhere || !platform.empty() ? ""
                         : which == "linux" && one_unix  ? "Linux, WSL: "
                                                         : name;
    for (const json& step : steps) {
      print_step(paper, "  " + std::exchange(label, "      ") + prefix, step.get<std::string>());
      prefix = std::string(prefix.size(), ' ');
    }
  }
}

/// The withdrawn one without which this would be a mere consequence.
const found_diagnosis* refuted_cause_of(const found_diagnosis& d,
                                        const std::vector<found_diagnosis>& found) {
  for (const found_diagnosis& other : found) {
    const auto& codes = other.entry->explains;
    if (other.withdrawn && !other.guess &&
        std::find(codes.begin(), codes.end(), d.entry->code) != codes.end()) {
      return &other;
    }
  }
  return nullptr;
}

void print_consequences(report_paper& paper, const std::vector<found_diagnosis>& found,
                        const std::string& code) {
  for (const found_diagnosis& d : found) {
    if (d.withdrawn || d.consequence_of != code) {
      continue;
    }
    paper.labelled(
        "  ", fmt::format("{} is a consequence of {}: {}", d.entry->code, code, d.entry->title));
    for (const std::string& line : d.probes) {
      paper.labelled("    probe: ", line);
    }
    print_consequences(paper, found, d.entry->code);
  }
}

std::string checks_text(const json& checks) {
  std::string ids;
  std::size_t count = 0;
  for (const json& check : checks) {
    const std::string id = text_of(check, "id");
    ids += (ids.empty() ? "" : ", ") + (id.empty() ? std::string("LibTorch itself") : id);
    ++count;
  }
  return count > 1 ? fmt::format("{} checks for one reason: {}", count, ids) : ids;
}

bool concerns(const json& d, const collected_run::entry& entry) {
  const json& checks = list_of(d, "checks");
  return std::any_of(checks.begin(), checks.end(), [&](const json& check) {
    return text_of(check, "id") == entry.id && text_of(check, "device") == entry.device;
  });
}

/// It rests on a link of the chain that failed.
bool shows_a_failed_link(const json& d) {
  const json& evidence = list_of(d, "evidence");
  return std::any_of(evidence.begin(), evidence.end(), [](const json& line) {
    const auto text = line.get<std::string>();
    return text.starts_with("assay: ") && text.find(" fail: ") != std::string::npos;
  });
}

/// Errors explain a failure; a warning only where it is what failed; a notice never.
bool explains_failure(const json& d) {
  const std::string severity = text_of(d, "severity");
  return severity == "error" || (severity == "warning" && shows_a_failed_link(d));
}

bool failed_a_check(const json& d, const collected_run& run) {
  return text_of(d, "severity") == "warning" && shows_a_failed_link(d) &&
         std::any_of(run.entries.begin(), run.entries.end(),
                     [&](const auto& entry) { return concerns(d, entry) && has_failed(entry); });
}

bool is_explained(const collected_run& run, const collected_run::entry& entry) {
  return std::any_of(run.diagnoses.begin(), run.diagnoses.end(), [&](const json& d) {
    return !flag_is(d, "withdrawn", true) && concerns(d, entry) && explains_failure(d);
  });
}

/// What follows from a code in some check, and from that.
void print_run_consequences(report_paper& paper, const collected_run& run, const std::string& code,
                            std::set<std::string>& printed) {
  for (const json& d : run.diagnoses) {
    const std::string follows = text_of(d, "code");
    if (!flag_is(d, "withdrawn", true) && text_of(d, "consequence_of") == code &&
        printed.insert(follows).second) {
      paper.labelled(
          "  ", fmt::format("{} is a consequence of {}: {}", follows, code, text_of(d, "title")));
      print_run_consequences(paper, run, follows, printed);
    }
  }
}

/// One code, with each reason that checks have for it.
void print_code(report_paper& paper, const std::vector<const json*>& reasons,
                const collected_run& run) {
  const json& first = *reasons.front();
  print_title(paper, first, std::any_of(reasons.begin(), reasons.end(), [&](const json* one) {
                return failed_a_check(*one, run);
              }));
  print_cause(paper, first);
  for (const json* reason : reasons) {
    if (text_of(*reason, "cause") != text_of(first, "cause")) {
      print_cause(paper, *reason);
    }
    print_proof(paper, *reason);
    const std::string here = text_of(*reason, "advice_here");
    if (!here.empty() && here != text_of(first, "advice_here")) {
      print_step(paper, "  do:   ", here);
    }
    paper.labelled("  of:   ", checks_text(list_of(*reason, "checks")));
  }
  print_steps(paper, first, this_platform());
  std::set<std::string> printed;
  print_run_consequences(paper, run, text_of(first, "code"), printed);
}

}  // namespace

void print_found(report_paper& paper, const std::vector<found_diagnosis>& found,
                 const std::string& platform) {
  bool first = true;
  for (const found_diagnosis& d : found) {
    if (d.withdrawn || !d.consequence_of.empty()) {
      continue;
    }
    if (!std::exchange(first, false)) {
      paper.line("");
    }
    const json whole = to_json(d);
    print_title(paper, whole);
    if (const found_diagnosis* cause = refuted_cause_of(d, found)) {
      paper.labelled("  but:  ",
                     fmt::format("the log also shows {}, which would explain this; see below",
                                 cause->entry->code));
    }
    print_cause(paper, whole);
    print_proof(paper, whole);
    print_steps(paper, whole, platform);
    print_consequences(paper, found, d.entry->code);
  }
}

void print_withdrawn(report_paper& paper, const std::vector<found_diagnosis>& found) {
  for (const found_diagnosis& d : found) {
    if (!d.withdrawn || d.guess) {
      continue;
    }
    paper.line("");
    paper.line(d.entry->code + "  (not so in this environment now)");
    paper.labelled("  ", d.entry->title);
    print_proof(paper, to_json(d));
    paper.labelled(
        "  but:  ",
        "the log says it, and here a probe sees that it is not so now. The program's own "
        "environment may differ: another container, LibTorch, user or variables.");
    paper.labelled("  do:   ", "Ask again in the program's environment:");
    paper.line("        $ assay explain --here LOG");
  }
}

std::string best_diagnosis(const collected_run& run, const collected_run::entry& entry) {
  for (const json& d : run.diagnoses) {
    if (!flag_is(d, "withdrawn", true) && member_of(d, "consequence_of").is_null() &&
        concerns(d, entry)) {
      return fmt::format("{} ({})", text_of(d, "code"), text_of(d, "confidence"));
    }
  }
  return "";
}

void print_diagnoses(report_paper& wide, const collected_run& run) {
  constexpr int widest = 100;
  report_paper paper = wide.at_most(widest);
  bool titled = false;
  const auto title = [&] {
    if (!std::exchange(titled, true)) {
      paper.line("Diagnoses\n");
    }
  };
  std::vector<std::vector<const json*>> codes;  // in the order of their best
  std::set<std::string> withdrawn;
  for (const json& d : run.diagnoses) {
    if (flag_is(d, "withdrawn", true)) {
      withdrawn.insert(withdrawn_text(d));
      continue;
    }
    if (!member_of(d, "consequence_of").is_null()) {
      continue;
    }
    const auto same = std::find_if(codes.begin(), codes.end(), [&](const auto& reasons) {
      return text_of(*reasons.front(), "code") == text_of(d, "code");
    });
    if (same == codes.end()) {
      codes.push_back({&d});
    } else {
      same->push_back(&d);
    }
  }
  for (const auto& reasons : codes) {
    title();
    print_code(paper, reasons, run);
    paper.line("");
  }
  for (const std::string& text : withdrawn) {
    title();
    paper.labelled("", text);
  }
  std::string unexplained;
  for (const collected_run::entry& entry : run.entries) {
    if (!entry.baseline && has_failed(entry) && !is_explained(run, entry)) {
      unexplained += (unexplained.empty() ? "" : ", ") + entry.id;
    }
  }
  const bool interrupted = flag_is(run.summary, "interrupted", true);
  if (!unexplained.empty() && !interrupted) {
    title();
    paper.labelled("", "unknown: no rule knows why these failed: " + unexplained);
  }
  if (titled) {
    paper.line("");
  }
}

std::string this_platform() {
#if defined(_WIN32)
  return "windows";
#else
  return platform::is_wsl() ? "wsl" : "linux";
#endif
}

}  // namespace assay
