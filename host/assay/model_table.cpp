// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "report_paper.hpp"

namespace assay {

namespace {

using nlohmann::json;

constexpr std::size_t most_rows = 20;

std::string percent(double share) {
  return share > 0.0 && share < 0.001 ? "< 0.1 %" : fmt::format("{:.1f} %", 100.0 * share);
}

bool has_basis(const json& row, const char* basis) {
  const json& bases = list_of(row, "basis");
  return std::any_of(bases.begin(), bases.end(), [&](const json& b) { return b == basis; });
}

std::vector<table_cell> cells_of(const json& row) {
  const json& share = member_of(row, "share");
  const std::string calls = fmt::format("{:.0f}", number_of(row, "calls"));
  const bool all_ok = number_of(row, "ok_calls") >= number_of(row, "calls");
  return {{text_of(row, "op"), all_ok ? std::string_view() : colors::red},
          {calls, ""},
          {(has_basis(row, "span") ? "<=" : "") + microseconds(row, "us_per_call"), ""},
          {share.is_null() ? "-" : duration_text(number_of(row, "total_us")), ""},
          {share.is_null() ? "-" : percent(share.get<double>()), ""}};
}

void print_rows(report_paper& paper, const json& record) {
  std::vector<table_column> columns{
      {"operator"}, {"calls", true}, {"us/call", true}, {"total", true}, {"share", true}};
  std::vector<std::vector<table_cell>> rows;
  double calls = 0.0;
  double total_us = 0.0;
  double share = 0.0;
  std::size_t others = 0;
  for (const json& row : list_of(record, "operators")) {
    if (rows.size() < most_rows) {
      rows.push_back(cells_of(row));
      continue;
    }
    ++others;
    calls += number_of(row, "calls");
    total_us += number_of(row, "total_us");
    share += number_of(row, "share");
  }
  if (others > 0) {
    rows.push_back({{fmt::format("{} others", others), ""},
                    {fmt::format("{:.0f}", calls), ""},
                    {"-", ""},
                    {duration_text(total_us), ""},
                    {percent(share), ""}});
  }
  fit_columns(columns, rows);
  std::vector<table_cell> titles;
  for (const table_column& column : columns) {
    titles.push_back({column.title, ""});
  }
  paper.line(table_line(paper, columns, titles));
  for (const auto& row : rows) {
    paper.line(table_line(paper, columns, row));
  }
}

/// The entries of one reason together: "3 entries (12 calls): it has complex numbers: lines 4, 9".
void print_skipped(report_paper& paper, const json& record) {
  constexpr std::size_t most_lines = 6;
  std::vector<std::string> order;
  std::map<std::string, std::vector<const json*>> by_reason;
  for (const json& one : list_of(record, "skipped")) {
    auto& same = by_reason[text_of(one, "reason")];
    if (same.empty()) {
      order.push_back(text_of(one, "reason"));
    }
    same.push_back(&one);
  }
  for (const std::string& reason : order) {
    const auto& same = by_reason[reason];
    double calls = 0.0;
    std::string where;
    for (std::size_t i = 0; i < same.size(); ++i) {
      calls += number_of(*same[i], "calls");
      if (i < most_lines) {
        where += fmt::format("{}{:.0f} ({})", i == 0 ? "" : ", ", number_of(*same[i], "line"),
                             text_of(*same[i], "op"));
      }
    }
    paper.wrapped_line(fmt::format("Skipped: {} {} ({:.0f} calls): {}: line {}{}", same.size(),
                                   same.size() == 1 ? "entry" : "entries", calls, printable(reason),
                                   printable(where), same.size() > most_lines ? ", .." : ""),
                       2);
  }
}

void print_guessed(report_paper& paper, const json& record) {
  constexpr std::size_t most_named = 6;
  const json& guessed = list_of(record, "guessed");
  if (guessed.empty()) {
    return;
  }
  std::string names;
  for (std::size_t i = 0; i < std::min(most_named, guessed.size()); ++i) {
    names += (i == 0 ? "" : ", ") + text_of(guessed[i], "check");
  }
  paper.wrapped_line(
      fmt::format("Integer inputs that no rule covers hold 1 to 7 in {}: {}{}",
                  guessed.size() == 1 ? "1 check" : fmt::format("{} checks", guessed.size()), names,
                  guessed.size() > most_named ? ", .." : ""),
      2);
}

void print_one(report_paper& paper, const json& record) {
  const std::string dtype = text_of(record, "dtype");
  const std::string file = std::filesystem::path(text_of(record, "file")).filename().string();
  const double calls = number_of(record, "calls");
  paper.wrapped_line(
      fmt::format("Model {} on {}{}: {:.0f} entries, {:.0f} calls, {:.0f} checks", printable(file),
                  text_of(record, "device"), dtype.empty() ? "" : " in " + dtype,
                  number_of(record, "entries"), calls, number_of(record, "checks")),
      0);
  print_rows(paper, record);
  const auto total = number_if_any(record, "total_us");
  if (calls > 0.0) {
    paper.wrapped_line(
        fmt::format("{} of the calls are covered by checks that ran ok; {} have a time{}.",
                    percent(number_of(record, "ok_calls") / calls),
                    percent(number_of(record, "timed_calls") / calls),
                    total ? ": " + duration_text(*total) + " in all" : ""),
        2);
  } else {
    paper.wrapped_line("All its entries are made up (cnt: 0), so that nothing is weighted.", 2);
  }
  print_skipped(paper, record);
  print_guessed(paper, record);
  paper.wrapped_line(
      "Times of operators by themselves, repeated on one set of inputs: their sum is not the "
      "model's step time.",
      2);
  paper.line("");
}

}  // namespace

void print_models(report_paper& paper, const collected_run& run) {
  for (const json& record : run.models) {
    print_one(paper, record);
  }
}

}  // namespace assay
