// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compare_command.hpp"
#include "host/results/rank_test.hpp"

namespace assay {

namespace {

using nlohmann::json;

std::string times_text(const time_change& change) {
  return fmt::format(
      "{} -> {} {} ({}{:.0f} %)", microseconds(change.before_us), microseconds(change.after_us),
      change.of_device ? "us device" : "us wall", change.ratio >= 1.0 ? "+" : "-",
      change.ratio >= 1.0 ? (change.ratio - 1.0) * 100.0 : (1.0 - change.ratio) * 100.0);
}

class comparison_page {
 public:
  comparison_page(report_paper& paper, const comparison& found, const regression_rules& rules)
      : paper_(paper), found_(found), rules_(rules) {}

  void print() {
    for (const std::string& remark : found_.remarks) {
      paper_.wrapped_line(remark, 0);
    }
    print_environment();
    print_checks("Newly failing", found_.broken, colors::red);
    print_checks("No longer run", found_.no_longer_run, colors::red);
    print_checks("Vanished", found_.vanished, colors::red);
    print_checks("Mended", found_.mended, colors::green);
    print_checks("New checks", found_.appeared, "");
    print_checks("Still failing", found_.still_failing, "");
    print_links();
    print_times();
    print_end();
  }

 private:
  void print_environment() {
    if (found_.environment.empty()) {
      paper_.line("Environment: nothing changed, as far as the files tell\n");
      return;
    }
    paper_.line("Environment");
    const auto said = [](const std::string& text) { return text.empty() ? "-" : text; };
    for (const environment_change& change : found_.environment) {
      entry(change.name, fmt::format("{} -> {}", said(change.before), said(change.after)));
    }
    paper_.line("");
  }

  void print_checks(const char* title, const std::vector<check_change>& changes,
                    std::string_view color) {
    if (changes.empty()) {
      return;
    }
    paper_.line(paper_.colored(color, fmt::format("{} ({})", title, changes.size())));
    for (const check_change& change : changes) {
      const bool has_both = !change.before.empty() && !change.after.empty();
      entry(fmt::format("{} on {}", change.id, change.device),
            has_both ? fmt::format("{} -> {}", change.before, change.after)
                     : change.before + change.after);
    }
    paper_.line("");
  }

  void print_links() {
    if (found_.links.empty()) {
      return;
    }
    paper_.line(fmt::format("Changes of the chain ({})", found_.links.size()));
    for (const link_change& change : found_.links) {
      entry(fmt::format("{} on {}, {}", change.id, change.device, change.link),
            fmt::format("{} -> {}{}", change.before, change.after,
                        change.regression ? "  (worse)" : ""));
    }
    paper_.line("");
  }

  void print_changed_times(const char* title, const std::vector<time_change>& changes,
                           std::string_view color) {
    if (changes.empty()) {
      return;
    }
    paper_.line(paper_.colored(color, fmt::format("{} ({})", title, changes.size())));
    for (const time_change& change : changes) {
      paper_.line(fmt::format("  {} on {}: {}{}", change.id, change.device, times_text(change),
                              change.p < 1.0 ? fmt::format(", p {:.1g}", change.p) : ""));
    }
    paper_.line("");
  }

  void print_times() {
    print_changed_times("Slower", found_.slower, colors::red);
    print_changed_times("Faster", found_.faster, colors::green);
    print_changed_times("Slower at first, not when measured again", found_.not_confirmed, "");
    print_changed_times("Perhaps slower: too few samples to tell", found_.suspicious,
                        colors::yellow);
    for (const std::string& line : how_times_were_judged(found_, rules_)) {
      paper_.wrapped_line(line, 0);
    }
    paper_.line("");
  }

  void print_end() {
    paper_.line(paper_.colored(found_.regression ? colors::red : colors::green, last_line(found_)));
  }

  // In one line where it fits; else what it is about has a line of its own.
  void entry(const std::string& about, const std::string& text) {
    const std::string whole = fmt::format("  {}: {}", about, text);
    if (whole.size() <= paper_.width()) {
      paper_.line(whole);
    } else {
      paper_.line(fmt::format("  {}:", about));
      paper_.wrapped_line(text, 6);
    }
  }

  report_paper& paper_;
  const comparison& found_;
  const regression_rules& rules_;
};

json checks_as_json(const std::vector<check_change>& changes) {
  json list = json::array();
  for (const check_change& change : changes) {
    list.push_back({{"id", change.id},
                    {"device", change.device},
                    {"before", change.before.empty() ? json() : json(change.before)},
                    {"after", change.after.empty() ? json() : json(change.after)}});
  }
  return list;
}

json times_as_json(const std::vector<time_change>& changes) {
  json list = json::array();
  for (const time_change& change : changes) {
    list.push_back({{"id", change.id},
                    {"device", change.device},
                    {"of", change.of_device ? "device_us" : "wall_us"},
                    {"before_us", change.before_us},
                    {"after_us", change.after_us},
                    {"ratio", change.ratio},
                    {"p", change.p}});
  }
  return list;
}

}  // namespace

std::vector<std::string> how_times_were_judged(const comparison& found,
                                               const regression_rules& rules) {
  std::vector<std::string> lines;
  for (const std::string& reason : found.times_not_compared) {
    lines.push_back("Times: " + reason);
  }
  if (found.times_tested > 0) {
    lines.push_back(fmt::format(
        "Times of {} checks tested: a rank test over their samples (p < {:g} after "
        "Holm's correction) and a difference of the medians of {:.3g} % or more{}.",
        found.times_tested, rules.significance, found.least_percent,
        found.least_percent > rules.slower_percent.value_or(default_slower_percent) + 0.005
            ? fmt::format(", since these runs differ by {:.2g} % (one standard "
                          "deviation) in any check",
                          found.scatter_percent.value_or(0.0))
            : ""));
  }
  if (found.times_untested > 0) {
    lines.push_back(
        fmt::format("Times of {} checks not tested: fewer than {} samples on a side. assay run "
                    "--profile measure takes samples; so do several runs a side.",
                    found.times_untested, fewest_samples));
  }
  if (found.common_ratio) {
    lines.push_back(
        fmt::format("All checks together: times x {:.3f} (median). Single checks are judged "
                    "beyond that.",
                    *found.common_ratio));
  }
  return lines;
}

std::string last_line(const comparison& found) {
  const auto worse = std::count_if(found.links.begin(), found.links.end(),
                                   [](const link_change& change) { return change.regression; });
  const std::string gone = found.not_asked_for.empty() ? ""
                                                       : fmt::format(" | {} not asked for again",
                                                                     found.not_asked_for.size());
  return fmt::format(
      "Compare: {} | {} checks in both | {} newly failing | {} mended | {} gone | {} links worse "
      "| {} slower | {} faster{}",
      found.regression ? "regression" : "no regression", found.checks_in_both, found.broken.size(),
      found.mended.size(), found.vanished.size() + found.no_longer_run.size(), worse,
      found.slower.size(), found.faster.size(), gone);
}

void print_comparison(report_paper& paper, const comparison& found, const regression_rules& rules) {
  comparison_page(paper, found, rules).print();
}

json comparison_as_json(const comparison& found, const regression_rules& rules) {
  json environment = json::array();
  for (const environment_change& change : found.environment) {
    environment.push_back({{"name", change.name},
                           {"group", change.group},
                           {"before", change.before.empty() ? json() : json(change.before)},
                           {"after", change.after.empty() ? json() : json(change.after)}});
  }
  json links = json::array();
  for (const link_change& change : found.links) {
    links.push_back({{"id", change.id},
                     {"device", change.device},
                     {"link", change.link},
                     {"before", change.before},
                     {"after", change.after},
                     {"worse", change.worse},
                     {"regression", change.regression}});
  }
  return {{"regression", found.regression},
          {"runs_before", found.runs_before},
          {"runs_after", found.runs_after},
          {"remarks", found.remarks},
          {"environment", std::move(environment)},
          {"checks_in_both", found.checks_in_both},
          {"broken", checks_as_json(found.broken)},
          {"mended", checks_as_json(found.mended)},
          {"appeared", checks_as_json(found.appeared)},
          {"vanished", checks_as_json(found.vanished)},
          {"no_longer_run", checks_as_json(found.no_longer_run)},
          {"not_asked_for", checks_as_json(found.not_asked_for)},
          {"still_failing", checks_as_json(found.still_failing)},
          {"links", std::move(links)},
          {"slower", times_as_json(found.slower)},
          {"faster", times_as_json(found.faster)},
          {"suspicious", times_as_json(found.suspicious)},
          {"not_confirmed", times_as_json(found.not_confirmed)},
          {"times_tested", found.times_tested},
          {"times_untested", found.times_untested},
          {"times_not_compared", found.times_not_compared},
          {"scatter_percent", found.scatter_percent ? json(*found.scatter_percent) : json()},
          {"least_percent", found.least_percent},
          {"common_ratio", found.common_ratio ? json(*found.common_ratio) : json()},
          {"rules",
           {{"error", rules.error},
            {"fallback", rules.fallback},
            {"path", rules.path},
            {"correctness", rules.correctness},
            {"slower_percent", rules.slower_percent ? json(*rules.slower_percent) : json()},
            {"significance", rules.significance},
            {"across_devices", rules.across_devices}}}};
}

}  // namespace assay
