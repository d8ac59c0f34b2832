// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace mu {
class Parser;
}

namespace assay::worker {

/// 2^53: up to here a formula's value can be any whole number.
inline constexpr double largest_whole = 9007199254740992.0;

/// What is wrong with a formula or a call, and at which byte of its text.
class text_mistake : public std::runtime_error {
 public:
  text_mistake(const std::string& what, std::size_t offset)
      : runtime_error(what), offset_(offset) {}
  [[nodiscard]] std::size_t offset() const { return offset_; }

 private:
  std::size_t offset_;
};

/// Formulas over named numbers: + - * / ^, comparisons, a ? b : c, and muParser's functions with
/// ceil and floor beside them.
class formula_reader {
 public:
  formula_reader();
  ~formula_reader();
  formula_reader(const formula_reader&) = delete;
  formula_reader& operator=(const formula_reader&) = delete;

  /// The names that formulas may use from now on.
  void set_names(const std::map<std::string, double>& names);

  /// The value, finite. Throws text_mistake.
  double value(const std::string& formula);

  /// Whether the name is a function's or a constant's, so that no number can have it.
  [[nodiscard]] bool is_taken(const std::string& name) const;

 private:
  std::unique_ptr<mu::Parser> parser_;
  std::vector<std::string> names_;
};

}  // namespace assay::worker
