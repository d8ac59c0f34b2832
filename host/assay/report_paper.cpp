// SPDX-License-Identifier: Apache-2.0
#include "report_paper.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

namespace assay {

namespace {

std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
  std::vector<std::string> lines(1);
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width) {
      lines.emplace_back();
    }
    lines.back() += (lines.back().empty() ? "" : " ") + word;
    begin = end + 1;
  }
  return lines;
}

}  // namespace

void report_paper::line(const std::string& text) { out_ << text << '\n'; }

void report_paper::wrapped_line(const std::string& text, std::size_t indent) {
  for (const std::string& part : wrapped(printable(text), width_ > indent ? width_ - indent : 1)) {
    line(std::string(indent, ' ') + part);
  }
}

void report_paper::labelled(const std::string& label, const std::string& text) {
  const std::size_t indent = label.size();
  std::string before = label;
  for (const std::string& part : wrapped(printable(text), width_ > indent ? width_ - indent : 1)) {
    line(before + part);
    before = std::string(indent, ' ');
  }
}

std::string report_paper::colored(std::string_view color, const std::string& text) const {
  return color_ && !color.empty() && !text.empty() ? fmt::format("{}{}\x1b[0m", color, text) : text;
}

std::string microseconds(double us) {
  const int digits = us < 1 ? 3 : us < 10 ? 2 : us < 100 ? 1 : 0;
  return fmt::format("{:.{}f}", us, digits);
}

std::string microseconds(const nlohmann::json& times, std::string_view member) {
  const auto us = number_if_any(times, member);
  return us ? microseconds(*us) : "-";
}

std::string duration_text(double us) {
  if (us < 1e3) {
    return microseconds(us) + " us";
  }
  return us < 1e6 ? microseconds(us / 1e3) + " ms" : microseconds(us / 1e6) + " s";
}

void fit_columns(std::vector<table_column>& columns,
                 const std::vector<std::vector<table_cell>>& rows) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    columns[i].width = columns[i].title.size();
    for (const auto& row : rows) {
      columns[i].width = std::max(columns[i].width, row[i].text.size());
    }
  }
}

std::string table_line(const report_paper& paper, const std::vector<table_column>& columns,
                       const std::vector<table_cell>& cells) {
  std::string line;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::size_t used = cells[i].text.size();
    const std::string padding(columns[i].width > used ? columns[i].width - used : 0, ' ');
    const std::string text = paper.colored(cells[i].color, cells[i].text);
    line += (i == 0 ? "" : "  ") + (columns[i].right ? padding + text : text + padding);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace assay
