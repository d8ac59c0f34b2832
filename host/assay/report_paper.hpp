// SPDX-License-Identifier: Apache-2.0
//
// What the parts of the report for people share: where it goes, how wide it is, how numbers look.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "collected_run.hpp"

namespace assay {

class report_paper {
 public:
  /// `width`: columns; 0: lines are never broken.
  report_paper(std::ostream& out, bool color, int width)
      : out_(out), color_(color), width_(width > 0 ? static_cast<std::size_t>(width) : unbroken) {}

  [[nodiscard]] std::size_t width() const { return width_; }
  /// As it was given: 0 where lines are never broken.
  [[nodiscard]] int columns() const { return width_ < unbroken ? static_cast<int>(width_) : 0; }
  [[nodiscard]] bool has_color() const { return color_; }
  /// The same paper, for prose: lines longer than this are hard to read.
  [[nodiscard]] report_paper at_most(int width) const {
    return {out_, color_, std::min(width, static_cast<int>(width_))};
  }
  std::ostream& out() { return out_; }
  void line(const std::string& text);
  void wrapped_line(const std::string& text, std::size_t indent);
  /// `label` and then `text`, in lines that all begin where the text began.
  void labelled(const std::string& label, const std::string& text);
  /// The text between the escape sequences, where there is colour. `color`: "" for none.
  [[nodiscard]] std::string colored(std::string_view color, const std::string& text) const;

 private:
  static constexpr std::size_t unbroken = 1U << 20;
  std::ostream& out_;
  bool color_;
  std::size_t width_;
};

namespace colors {
inline constexpr std::string_view red = "\x1b[31m";
inline constexpr std::string_view green = "\x1b[32m";
inline constexpr std::string_view yellow = "\x1b[33m";
inline constexpr std::string_view cyan = "\x1b[36m";
}  // namespace colors

/// Three or four significant digits; whole microseconds from 100 on; "-" for none.
std::string microseconds(const nlohmann::json& times, std::string_view member);
std::string microseconds(double us);

/// Microseconds in the unit that suits: "812 us", "45.1 ms", "2.70 s".
std::string duration_text(double us);

/// Cells of a table; a cell that is coloured is so without its padding.
struct table_cell {
  std::string text;
  std::string_view color;
};

struct table_column {
  std::string title;
  bool right = false;
  std::size_t width = 0;
};

/// Sets each column's width from its title and cells.
void fit_columns(std::vector<table_column>& columns,
                 const std::vector<std::vector<table_cell>>& rows);

/// One row, two blanks between cells, none behind the last.
std::string table_line(const report_paper& paper, const std::vector<table_column>& columns,
                       const std::vector<table_cell>& cells);

// ---- what the report says of a run with the chain of evidence

/// Whether there are verdicts to show.
bool has_verdicts(const collected_run& run);

/// The chain of each check of `entries`, which are all of one device. Answers whether there was
/// room for the vendor's numbers.
bool print_chain(report_paper& paper, const collected_run& run,
                 const std::vector<const collected_run::entry*>& entries);

/// What the columns mean, and why what is not known is not.
void print_chain_legend(report_paper& paper, const collected_run& run, bool datasheet);

/// "cuda:0 reaches: copy 4.28 TB/s, ...".
std::string ceilings_text(const nlohmann::json& ceilings);

/// Which library and kernel served each check (--trace-libs); nothing without the option.
void print_served(report_paper& paper, const collected_run& run);

/// What each recorded model's calls cost, by operator (--trace); nothing without the option.
void print_models(report_paper& paper, const collected_run& run);

/// The run in a line or two: verdicts, how busy the device was, how much faster than the CPU.
void print_totals(report_paper& paper, const collected_run& run);

/// Where the time of each call goes (--split).
void print_split(report_paper& paper, const collected_run& run);

}  // namespace assay
