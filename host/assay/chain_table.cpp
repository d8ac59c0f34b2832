// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "datasheet_peaks.hpp"
#include "known_issues.hpp"
#include "report_paper.hpp"
#include "verdict.hpp"

namespace assay {

namespace {

using nlohmann::json;
using entry = collected_run::entry;
using cells = std::vector<table_cell>;

constexpr std::size_t least_id_width = 24;

const json& verdict_of(const entry& e) { return member_of(e.evidence, "verdict"); }

const json& link_of(const json& verdict, std::string_view name) {
  return member_of(member_of(verdict, "links"), name);
}

std::string_view color_of(const std::string& state) {
  return state == "fail"      ? colors::red
         : state == "warn"    ? colors::yellow
         : state == "unknown" ? colors::cyan
                              : std::string_view();
}

std::string mark_of(const std::string& state) {
  return state == "pass" ? "ok" : state == "warn" ? "!" : state == "fail" ? "X" : "?";
}

bool ended_well(const entry& e) { return text_of(e.result, "status") == "ok"; }

table_cell verdict_cell(const entry& e) {
  const std::string status = text_of(e.result, "status");
  if (is_known(e)) {
    return {"known", colors::yellow};
  }
  if (status == "skipped") {
    return {status, colors::yellow};
  }
  if (status != "ok") {
    return {status, colors::red};
  }
  const std::string verdict = text_of(verdict_of(e), "verdict");
  return {verdict.empty() ? "-" : verdict, verdict == "pass" ? colors::green : color_of(verdict)};
}

table_cell mark_cell(const entry& e, std::string_view link) {
  const std::string state = text_of(link_of(verdict_of(e), link), "state");
  if (state.empty() || (!ended_well(e) && state == "unknown")) {
    return {"-", {}};
  }
  return {mark_of(state), color_of(state)};
}

table_cell path_cell(const entry& e) {
  const std::string state = text_of(link_of(verdict_of(e), "path"), "state");
  const std::string name = printable(text_of(verdict_of(e), "path"));
  if (name.empty()) {
    return mark_cell(e, "path");
  }
  return {name + (state == "warn" || state == "fail" ? mark_of(state) : ""), color_of(state)};
}

std::string device_time_cell(const entry& e) {
  if (e.device == "cpu") {
    return "-";
  }
  if (const auto us = device_time_us(e.result, member_of(e.evidence, "evidence"))) {
    return microseconds(*us);
  }
  const std::string bound = microseconds(member_of(e.result, "timing"), "device_us");
  return bound == "-" ? bound : "<=" + bound;
}

table_cell bound_cell(const entry& e) {
  const json& verdict = verdict_of(e);
  const std::string bound = text_of(verdict, "bound");
  const std::string state = text_of(link_of(verdict, "speed"), "state");
  if (bound.empty()) {
    return mark_cell(e, "speed");
  }
  if (bound == "launch") {
    return {bound, {}};
  }
  if (bound == "host sync") {
    return {"sync", {}};
  }
  const auto percent = number_if_any(verdict, "percent");
  if (!percent) {
    return {"cache", {}};
  }
  // Over 100 % and not alarming is what two measurements differ by.
  const bool about = *percent > 100.0 && !above_ceiling(verdict);
  return {fmt::format("{} {}{:.{}f}%{}", bound, about ? "~" : "", about ? 100.0 : *percent,
                      *percent < 1.0 ? 1 : 0, state == "warn" ? "!" : ""),
          color_of(state)};
}

/// "4.25 TB/s"; the prefix is the one that leaves up to three digits before the point.
std::string rate_text(double per_s, std::string_view unit) {
  constexpr std::string_view prefixes = "kMGTP";
  double shown = per_s / 1e3;
  std::size_t prefix = 0;
  for (; shown >= 1000.0 && prefix + 1 < prefixes.size(); ++prefix) {
    shown /= 1000.0;
  }
  const int digits = shown < 10 ? 2 : shown < 100 ? 1 : 0;
  return fmt::format("{:.{}f} {}{}", shown, digits, prefixes[prefix], unit);
}

std::string rate_cell(const json& verdict) {
  const std::string bound = text_of(verdict, "bound");
  const auto bytes = number_if_any(verdict, "gb_per_s");
  const auto flops = number_if_any(verdict, "tflop_per_s");
  if (bound == "memory" && bytes) {
    return rate_text(*bytes * 1e9, "B/s");
  }
  return bound == "compute" && flops ? rate_text(*flops * 1e12, "F/s") : "-";
}

std::string percent_cell(const json& verdict) {
  const auto percent = number_if_any(verdict, "datasheet_percent");
  return percent ? fmt::format("{:.0f}%", *percent) : "-";
}

std::string speed_up_text(double factor) {
  return fmt::format("{:.{}f}x", factor, factor < 1 ? 2 : factor < 10 ? 1 : 0);
}

bool any_of(const collected_run& run, const std::function<bool(const entry&)>& has) {
  return std::any_of(run.entries.begin(), run.entries.end(), has);
}

bool has_speed_up(const entry& e) { return number_if_any(verdict_of(e), "speed_up").has_value(); }

bool has_datasheet(const entry& e) {
  return number_if_any(verdict_of(e), "datasheet_percent").has_value();
}

bool has_cold_time(const entry& e) {
  return !e.baseline && number_if_any(member_of(e.result, "timing"), "cold_us").has_value();
}

std::string own_remark_of(const entry& e) {
  const std::string note = text_of(e.result, "note");
  const std::string verdict = text_of(verdict_of(e), "verdict");
  if (!ended_well(e) || verdict == "pass" || verdict == "unknown" || verdict.empty()) {
    return note;  // why something is not known stands below the table, once
  }
  const std::string headline = text_of(verdict_of(e), "headline");
  const bool off_device = flag_is(e.result, "on_device", false);
  return note.empty() || off_device ? headline : headline + "; " + note;
}

/// What stands below a check: what its verdict needs to say, and what the run noted.
std::string remark_of(const entry& e) {
  const std::string known = known_text(e);
  const std::string own = own_remark_of(e);
  return known.empty() ? own
                       : fmt::format("known issue: {}{}{}", known, own.empty() ? "" : "; ", own);
}

struct chain_table {
  std::vector<table_column> columns{{"check"},      {"verdict"}, {"dev"},        {"fall"},
                                    {"right"},      {"path"},    {"wall", true}, {"device", true},
                                    {"cold", true}, {"bound"},   {"rate", true}, {"sheet", true},
                                    {"x cpu", true}};
  std::vector<cells> rows;
  std::vector<std::string> remarks;

  void remove(std::size_t column) {
    columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(column));
    for (cells& row : rows) {
      row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
    }
  }

  void remove(const std::string& title) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (columns[i].title == title) {
        remove(i);
        return;
      }
    }
  }

  [[nodiscard]] std::size_t behind_id() const {
    std::size_t width = 0;
    for (std::size_t i = 1; i < columns.size(); ++i) {
      width += 2 + columns[i].width;
    }
    return width;
  }
};

cells make_cells(const entry& e) {
  const json& verdict = verdict_of(e);
  const auto factor = number_if_any(verdict, "speed_up");
  return {{e.id, {}},
          verdict_cell(e),
          mark_cell(e, "on_device"),
          mark_cell(e, "no_fallback"),
          mark_cell(e, "correct"),
          path_cell(e),
          {microseconds(member_of(e.result, "timing"), "wall_us"), {}},
          {device_time_cell(e), {}},
          {microseconds(member_of(e.result, "timing"), "cold_us"), {}},
          bound_cell(e),
          {rate_cell(verdict), {}},
          {percent_cell(verdict), {}},
          {factor ? speed_up_text(*factor) : "-", {}}};
}

using unknown_key = std::pair<std::string, std::string>;  // links, why

// The links of a check that are not known, those of one reason together.
std::vector<unknown_key> unknown_links(const entry& e) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 5> links{
      {{"on_device", "dev"},
       {"no_fallback", "fall"},
       {"correct", "right"},
       {"path", "path"},
       {"speed", "bound"}}};
  std::vector<unknown_key> found;
  for (const auto& [link, title] : links) {
    const json& judged = link_of(verdict_of(e), link);
    if (!ended_well(e) || text_of(judged, "state") != "unknown") {
      continue;
    }
    const std::string why = text_of(judged, "why");
    const auto same = std::find_if(found.begin(), found.end(),
                                   [&](const unknown_key& key) { return key.second == why; });
    if (same == found.end()) {
      found.emplace_back(title, why);
    } else {
      same->first += ", " + std::string(title);
    }
  }
  return found;
}

void print_unknown(report_paper& paper, const collected_run& run) {
  std::vector<unknown_key> order;
  std::map<unknown_key, std::vector<std::string>> ids;
  for (const entry& e : run.entries) {
    for (const unknown_key& key : unknown_links(e)) {
      auto& found = ids[key];
      if (found.empty()) {
        order.push_back(key);
      }
      found.push_back(e.id);
    }
  }
  if (order.empty()) {
    return;
  }
  paper.line("Not known:");
  for (const unknown_key& key : order) {
    const auto& of = ids[key];
    constexpr std::size_t most_named = 3;
    const std::string who = of.size() <= most_named ? fmt::format("{}", fmt::join(of, ", "))
                                                    : fmt::format("{} checks", of.size());
    paper.wrapped_line(fmt::format("{} of {}: {}", key.first, who, key.second), 2);
  }
  paper.line("");
}

// No verdict follows from it: sums by atomic additions differ from call to call, and may.
void print_unrepeatable(report_paper& paper, const collected_run& run) {
  std::vector<std::string> ids;
  for (const entry& e : run.entries) {
    const json& correct = member_of(member_of(e.evidence, "evidence"), "correct");
    if (flag_is(correct, "repeatable", false)) {
      ids.push_back(e.device == run.entries.front().device ? e.id : e.id + " on " + e.device);
    }
  }
  if (!ids.empty()) {
    paper.wrapped_line(
        fmt::format("Not repeatable bit for bit, by two calls: {}", fmt::join(ids, ", ")), 0);
    paper.line("");
  }
}

}  // namespace

bool has_verdicts(const collected_run& run) {
  return std::any_of(run.entries.begin(), run.entries.end(),
                     [](const entry& e) { return verdict_of(e).is_object(); });
}

bool print_chain(report_paper& paper, const collected_run& run,
                 const std::vector<const collected_run::entry*>& entries) {
  chain_table table;
  for (const entry* e : entries) {
    table.rows.push_back(make_cells(*e));
    table.remarks.push_back(printable(remark_of(*e)));
  }
  for (const auto& [column, has] :
       {std::pair("x cpu", &has_speed_up), std::pair("sheet", &has_datasheet),
        std::pair("cold", &has_cold_time)}) {
    if (!any_of(run, has)) {
      table.remove(column);
    }
  }
  fit_columns(table.columns, table.rows);
  for (const char* least_needed : {"sheet", "rate", "cold"}) {
    if (table.behind_id() + least_id_width > paper.width()) {
      table.remove(least_needed);
    }
  }
  const std::size_t rest = table.behind_id();
  std::size_t& id_width = table.columns[0].width;
  id_width =
      std::min(id_width, std::max<std::size_t>(paper.width() - std::min(paper.width(), rest), 20));
  cells titles;
  for (const table_column& column : table.columns) {
    titles.push_back({column.title, {}});
  }
  paper.line(table_line(paper, table.columns, titles));
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    cells& row = table.rows[i];
    if (row[0].text.size() > id_width) {
      paper.line(row[0].text);
      row[0].text.clear();
    }
    paper.line(table_line(paper, table.columns, row));
    if (!table.remarks[i].empty()) {
      paper.wrapped_line(table.remarks[i], 4);
    }
  }
  return std::any_of(table.columns.begin(), table.columns.end(),
                     [](const table_column& column) { return column.title == "sheet"; });
}

void print_chain_legend(report_paper& paper, const collected_run& run, bool datasheet) {
  paper.line("dev: on the device; fall: nothing fell back; right: agrees with the reference;");
  paper.line("ok, ! warning, X failed, ? not known. path: the way that LibTorch took.");
  paper.line("wall, device: microseconds per call, <=: at most; device is of a traced run of its");
  paper.line(
      "own, and may be above wall by what two runs differ. bound: what limits it, % of what");
  paper.line("was measured here (~100%: up to 103, what two measurements differ by); launch:");
  paper.line("issuing it costs more than the work; sync: the host waits inside the call; cache:");
  paper.line("its data lie in one; latency: far below every ceiling, as small or serial work is.");
  if (any_of(run, &has_cold_time)) {
    paper.line("cold: microseconds of the device (on the CPU: wall) with the data in no cache.");
  }
  if (datasheet) {
    paper.line(fmt::format("sheet: % of what the vendor states (as of {}).", datasheet_date));
  }
  paper.line("");
  print_unknown(paper, run);
  print_unrepeatable(paper, run);
}

std::string ceilings_text(const json& ceilings) {
  const std::string device = text_of(ceilings, "device");
  if (text_of(ceilings, "state") == "unknown") {
    return fmt::format("{}: its ceilings are not known: {}", device, text_of(ceilings, "why"));
  }
  std::vector<std::string> parts;
  const auto add = [&](const char* title, const json& from, const std::string& member, double one,
                       std::string_view unit) {
    if (const auto value = number_if_any(from, member)) {
      parts.push_back(fmt::format("{} {}", title, rate_text(*value * one, unit)));
    }
  };
  add("copy", ceilings, "copy_gb_per_s", 1e9, "B/s");
  add("read", ceilings, "read_gb_per_s", 1e9, "B/s");
  const json& rates = member_of(ceilings, "matrix_tflop_per_s");
  for (const char* dtype : {"float32", "tf32", "float16", "bfloat16", "float8_e4m3fn"}) {
    add(dtype, rates, dtype, 1e12, "F/s");
  }
  if (const auto launch = number_if_any(ceilings, "launch_us")) {
    parts.push_back(fmt::format("launch {} us", microseconds(*launch)));
  }
  const std::string why = text_of(ceilings, "why");
  return fmt::format("{} reaches ({}): {}{}", device, text_of(ceilings, "state"),
                     fmt::join(parts, ", "), why.empty() ? "" : "; " + why);
}

}  // namespace assay
