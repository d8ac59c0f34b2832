// SPDX-License-Identifier: Apache-2.0
#include "mention.hpp"

#include <algorithm>
#include <array>

namespace assay {

namespace {

constexpr auto npos = std::string_view::npos;

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r");
  return begin == npos ? std::string_view()
                       : text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// pytest's, unittest's, GoogleTest's and ctest's lines of a test that passed.
bool is_passed_test(std::string_view line) {
  const bool names_a_test = line.find("test") != npos;  // "arguments were passed" is no verdict
  const bool verdict = line.ends_with(" passed") || line.ends_with(" xfail") ||
                       line.ends_with(" ... ok") || line.find(" passed [") != npos ||
                       line.starts_with("passed ") || line.starts_with("[       ok ]");
  return (names_a_test && verdict) || line.find(" raised as expected") != npos;
}

/// `If you see "RuntimeError: ..."`: a condition, and the failure quoted behind it.
bool is_advice(std::string_view line) {
  static constexpr std::array<std::string_view, 6> conditions{
      "if you see", "if you get", "if you encounter", "if you hit", "when you see", "if it says"};
  constexpr std::size_t nearest = 24;  // "an error like"
  return std::any_of(conditions.begin(), conditions.end(), [&](std::string_view condition) {
    const std::size_t at = line.find(condition);
    return at != npos && line.substr(at + condition.size(), nearest).find_first_of("\"'`") != npos;
  });
}

/// `git log --oneline`: a hash, and what was done about the failure.
bool is_commit(std::string_view line) {
  constexpr std::size_t shortest = 7;
  constexpr std::size_t longest = 40;
  static constexpr std::array<std::string_view, 14> deeds{
      "fix",   "handle",  "add",    "revert", "merge", "avoid", "work around",
      "catch", "improve", "report", "test",   "docs",  "feat",  "workaround"};
  const std::size_t end = line.find_first_not_of("0123456789abcdef");
  if (end == npos || end < shortest || end > longest || line[end] != ' ' ||
      line.substr(0, end).find_first_of("abcdef") == npos) {
    return false;
  }
  const std::string_view said = line.substr(end + 1);
  return std::any_of(deeds.begin(), deeds.end(),
                     [&](std::string_view deed) { return said.starts_with(deed); });
}

}  // namespace

bool only_mentions(std::string_view line) {
  const std::string_view text = trimmed(line);
  return is_passed_test(text) || is_advice(text) || is_commit(text);
}

}  // namespace assay
