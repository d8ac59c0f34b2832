// SPDX-License-Identifier: Apache-2.0
//
// What the checks add up to: verdicts, busy time, speed-up, and where the time went.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "known_issues.hpp"
#include "report_paper.hpp"
#include "verdict.hpp"

namespace assay {

namespace {

using nlohmann::json;
using entry = collected_run::entry;

const json& verdict_of(const entry& e) { return member_of(e.evidence, "verdict"); }

double percent(double part, double whole) { return whole > 0.0 ? 100.0 * part / whole : 0.0; }

std::string counted_verdicts(const collected_run& run) {
  std::array<std::pair<std::string_view, int>, 4> counts{
      {{"pass", 0}, {"warn", 0}, {"fail", 0}, {"unknown", 0}}};
  int skipped = 0;
  int not_judged = 0;
  int known = 0;
  for (const entry& e : run.entries) {
    const std::string word = text_of(verdict_of(e), "verdict");
    if (text_of(e.result, "status") == "skipped") {
      ++skipped;
      continue;
    }
    if (is_known(e)) {
      ++known;
      continue;
    }
    not_judged += word.empty() && !e.baseline && e.result.is_object() ? 1 : 0;
    for (auto& [name, count] : counts) {
      count += name == word ? 1 : 0;
    }
  }
  std::vector<std::string> parts;
  for (const auto& [name, count] : counts) {
    parts.push_back(fmt::format("{} {}", count, name));
  }
  if (known > 0) {
    parts.push_back(fmt::format("{} known", known));
  }
  if (skipped > 0) {
    parts.push_back(fmt::format("{} skipped", skipped));
  }
  if (not_judged > 0) {
    parts.push_back(fmt::format("{} not judged", not_judged));
  }
  return fmt::format("Verdict: {}", fmt::join(parts, ", "));
}

struct times {
  int timed = 0;
  int on_device = 0;
  int launch_bound = 0;
  double wall_us = 0.0;  // of those whose device time is known
  double device_us = 0.0;
};

times times_of(const collected_run& run) {
  times sum;
  for (const entry& e : run.entries) {
    const auto wall = number_if_any(member_of(e.result, "timing"), "wall_us");
    if (e.baseline || !wall || !verdict_of(e).is_object()) {
      continue;
    }
    ++sum.timed;
    sum.launch_bound += text_of(verdict_of(e), "bound") == "launch" ? 1 : 0;
    const auto busy = device_time_us(e.result, member_of(e.evidence, "evidence"));
    if (e.device != "cpu" && busy) {
      ++sum.on_device;
      sum.wall_us += *wall;
      sum.device_us += std::min(*busy, *wall);
    }
  }
  return sum;
}

void print_speed_up(report_paper& paper, const collected_run& run) {
  double log_sum = 0.0;
  double here_us = 0.0;
  double there_us = 0.0;
  int count = 0;
  int slower = 0;
  for (const entry& e : run.entries) {
    const auto factor = number_if_any(verdict_of(e), "speed_up");
    const auto wall = number_if_any(member_of(e.result, "timing"), "wall_us");
    if (!factor || !wall || *factor <= 0.0) {
      continue;
    }
    ++count;
    slower += *factor < 1.0 ? 1 : 0;
    log_sum += std::log(*factor);
    here_us += *wall;
    there_us += *wall * *factor;
  }
  if (count == 0) {
    if (!text_of(member_of(member_of(run.run, "options"), "baseline"), "value").empty()) {
      paper.wrapped_line(
          "Speed-up over the CPU: none, since no check ran on another device and there too.", 0);
    }
    return;
  }
  const double total = there_us / here_us;
  paper.wrapped_line(
      fmt::format("Speed-up over the CPU: {:.3g} x (geometric mean of {} checks), {:.3g} x in "
                  "total ({} on the CPU, {} here){}",
                  std::exp(log_sum / count), count, total, duration_text(there_us),
                  duration_text(here_us),
                  slower == 0   ? ""
                  : slower == 1 ? "; 1 is slower here"
                                : fmt::format("; {} are slower here", slower)),
      0);
}

/// Microseconds of one call: of the timed pass, and of the traced one.
struct split {
  double wall = 0.0;
  double dispatch = 0.0;
  double busy = 0.0;
  double copy = 0.0;
  double traced = 0.0;

  [[nodiscard]] double idle() const { return std::max(0.0, wall - busy - copy); }

  void add(const split& other) {
    wall += other.wall;
    dispatch += other.dispatch;
    busy += other.busy;
    copy += other.copy;
    traced += other.traced;
  }
};

bool has_split(const entry& e) {
  const json& profiler = member_of(member_of(e.evidence, "evidence"), "profiler");
  return number_if_any(profiler, "call_us") && number_if_any(profiler, "busy_us") &&
         number_if_any(member_of(e.result, "timing"), "wall_us");
}

// A device can have worked no longer than the call took: what two passes differ by is cut off.
split split_of(const entry& e) {
  const json& evidence = member_of(e.evidence, "evidence");
  const json& profiler = member_of(evidence, "profiler");
  const json& timing = member_of(e.result, "timing");
  split s;
  s.wall = number_of(timing, "wall_us");
  s.dispatch = number_of(timing, "submit_us");
  s.busy = std::min(device_time_us(e.result, evidence).value_or(0.0), s.wall);
  s.copy = std::min(number_of(profiler, "copy_us"), s.wall - s.busy);
  s.traced = number_of(profiler, "call_us");
  return s;
}

std::vector<table_cell> split_cells(const std::string& title, const split& s) {
  return {{title, {}},
          {microseconds(s.wall), {}},
          {microseconds(s.dispatch), {}},
          {microseconds(s.busy), {}},
          {microseconds(s.copy), {}},
          {microseconds(s.idle()), {}},
          {microseconds(s.traced), {}}};
}

std::string why_idle(const split& total, int checks, int by_launch, int by_wait) {
  const std::string shares = fmt::format(
      "Of the wall time of these calls the device worked {:.0f} %, copied {:.0f} % and idled "
      "{:.0f} %",
      percent(total.busy, total.wall), percent(total.copy, total.wall),
      percent(total.idle(), total.wall));
  if (total.idle() < total.busy && by_launch == 0 && by_wait == 0) {
    return shares + ": it is at work most of the time.";
  }
  if (total.copy > total.busy && total.copy > total.idle()) {
    return shares + ": copies between host and device are what it waits for.";
  }
  std::vector<std::string> reasons;
  if (by_launch > 0) {
    reasons.push_back(fmt::format(
        "{} of {} checks {} launch-bound: issuing the work takes the host longer than the device "
        "to do it. Larger inputs, fewer and larger operators, or captured graphs shorten that",
        by_launch, checks, by_launch == 1 ? "is" : "are"));
  }
  if (by_wait > 0) {
    reasons.push_back(
        fmt::format("{} of {} {} for the device inside the call, and nothing is queued "
                    "meanwhile",
                    by_wait, checks, by_wait == 1 ? "waits" : "wait"));
  }
  return reasons.empty() ? shares + "." : fmt::format("{}. {}.", shares, fmt::join(reasons, ". "));
}

}  // namespace

void print_totals(report_paper& paper, const collected_run& run) {
  const times sum = times_of(run);
  std::string text = counted_verdicts(run);
  if (sum.on_device > 0) {
    text += fmt::format(" | device busy {:.0f} % of the wall time",
                        percent(sum.device_us, sum.wall_us));
  }
  if (sum.launch_bound > 0) {
    text += fmt::format(" | {} of {} check{} launch-bound", sum.launch_bound, sum.timed,
                        sum.timed == 1          ? " is"
                        : sum.launch_bound == 1 ? "s is"
                                                : "s are");
  }
  paper.wrapped_line(text, 0);
  print_speed_up(paper, run);
  paper.line("");
}

void print_split(report_paper& paper, const collected_run& run) {
  std::vector<std::vector<table_cell>> rows;
  split total;
  int by_launch = 0;
  int by_wait = 0;
  for (const entry& e : run.entries) {
    if (!has_split(e)) {
      continue;
    }
    const split s = split_of(e);
    total.add(s);
    const std::string bound = text_of(verdict_of(e), "bound");
    by_launch += bound == "launch" ? 1 : 0;
    by_wait += bound == "host sync" ? 1 : 0;
    rows.push_back(split_cells(e.id, s));
  }
  if (rows.empty()) {
    paper.wrapped_line(
        "Time split: none, since the profiler saw no device at work in any of the checks.", 0);
    paper.line("");
    return;
  }
  const auto checks = static_cast<int>(rows.size());
  rows.push_back(split_cells("total", total));
  std::vector<table_column> columns{{"time split"},  {"wall", true}, {"dispatch", true},
                                    {"busy", true},  {"copy", true}, {"idle", true},
                                    {"traced", true}};
  fit_columns(columns, rows);
  std::vector<table_cell> titles;
  for (const table_column& column : columns) {
    titles.push_back({column.title, {}});
  }
  paper.line(table_line(paper, columns, titles));
  for (const auto& row : rows) {
    paper.line(table_line(paper, columns, row));
  }
  paper.line("");
  paper.line("Microseconds per call. wall, dispatch (the host, until the call returned): timed,");
  paper.line(
      "without the profiler. busy, copy: the device, as the profiler saw it. idle: the rest of");
  paper.line(
      "wall. traced: one call under the profiler, waited for, with what the profiler costs.");
  paper.wrapped_line(why_idle(total, checks, by_launch, by_wait), 0);
  paper.line("");
}

}  // namespace assay
