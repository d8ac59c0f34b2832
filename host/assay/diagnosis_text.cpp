// SPDX-License-Identifier: Apache-2.0
#include "diagnosis_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
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

}  // namespace

void print_diagnosis(report_paper& paper, const json& d, const std::string& platform) {
  const std::string inner = "  ";
  paper.line(paper.colored(color_of(d), text_of(d, "code")) +
             fmt::format("  ({}, {}, {})", text_of(d, "confidence"), text_of(d, "severity"),
                         text_of(d, "category")));
  paper.labelled(inner, text_of(d, "title"));
  paper.labelled(inner + "why:  ", text_of(d, "cause"));
  std::string label = "seen: ";
  for (const json& line : list_of(d, "evidence")) {
    paper.line(inner + std::exchange(label, "      ") + printable(line.get<std::string>()));
  }
  label = "probe: ";
  for (const json& line : list_of(d, "probes")) {
    paper.labelled(inner + std::exchange(label, "       "), line.get<std::string>());
  }
  if (const std::string here = text_of(d, "advice_here"); !here.empty()) {
    print_step(paper, inner + "do:   ", here);
  }
  const json& advice = member_of(d, "advice");
  static constexpr std::array<std::pair<const char*, const char*>, 4> kinds{
      {{"any", ""}, {"linux", "Linux: "}, {"wsl", "WSL: "}, {"windows", "Windows: "}}};
  label = text_of(d, "advice_here").empty() ? "do:   " : "      ";
  for (const auto& [kind, name] : kinds) {
    const json& steps = list_of(advice, kind);
    const bool everywhere = std::string_view(kind) == "any";
    if (steps.empty() || (!everywhere && !platform.empty() && platform != kind)) {
      continue;
    }
    std::string prefix = everywhere || !platform.empty() ? "" : name;
    for (const json& step : steps) {
      print_step(paper, inner + std::exchange(label, "      ") + prefix, step.get<std::string>());
      prefix = std::string(prefix.size(), ' ');
    }
  }
}

std::string withdrawn_text(const json& d) {
  const json& probes = list_of(d, "probes");
  return fmt::format("not {}: the text looks like it, but {}", text_of(d, "code"),
                     probes.empty() ? "a probe says no" : probes.front().get<std::string>());
}

std::string best_diagnosis(const collected_run& run, const collected_run::entry& entry) {
  for (const json& d : run.diagnoses) {
    if (flag_is(d, "withdrawn", true)) {
      continue;
    }
    for (const json& check : list_of(d, "checks")) {
      if (text_of(check, "id") == entry.id && text_of(check, "device") == entry.device &&
          member_of(d, "consequence_of").is_null()) {
        return fmt::format("{} ({})", text_of(d, "code"), text_of(d, "confidence"));
      }
    }
  }
  return "";
}

void print_diagnoses(report_paper& paper, const collected_run& run) {
  bool titled = false;
  const auto title = [&] {
    if (!std::exchange(titled, true)) {
      paper.line("Diagnoses\n");
    }
  };
  for (const json& d : run.diagnoses) {
    if (flag_is(d, "withdrawn", true) || !member_of(d, "consequence_of").is_null()) {
      continue;
    }
    title();
    print_diagnosis(paper, d, this_platform());
    paper.labelled("  of:   ", checks_text(list_of(d, "checks")));
    paper.line("");
  }
  for (const json& d : run.diagnoses) {
    const std::string cause = text_of(d, "consequence_of");
    if (flag_is(d, "withdrawn", true)) {
      title();
      paper.labelled("", withdrawn_text(d));
    } else if (!cause.empty()) {
      title();
      paper.labelled("", fmt::format("{} is a consequence of {}", text_of(d, "code"), cause));
    }
  }
  std::string unexplained;
  for (const collected_run::entry& entry : run.entries) {
    if (!entry.baseline && has_failed(entry) && best_diagnosis(run, entry).empty()) {
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
