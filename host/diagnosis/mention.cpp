// SPDX-License-Identifier: Apache-2.0
#include "mention.hpp"

#include <algorithm>
#include <array>

namespace assay {

namespace {

constexpr auto npos = std::string_view::npos;
constexpr std::string_view quotes = "\"'`";
constexpr std::string_view digits = "0123456789";
constexpr std::string_view hex_digits = "0123456789abcdef";

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r");
  return begin == npos ? std::string_view()
                       : text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != npos; }

template <std::size_t N>
bool has_any(std::string_view text, const std::array<std::string_view, N>& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return has(text, part); });
}

template <std::size_t N>
bool starts_with_any(std::string_view text, const std::array<std::string_view, N>& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return text.starts_with(part); });
}

/// pytest's, unittest's, GoogleTest's and ctest's lines about a test. Those of GoogleTest, ctest
/// and unittest hold nothing but its name, whether or not it passed.
bool is_test_result(std::string_view line) {
  static constexpr std::array<std::string_view, 9> headings{
      "[ run      ]", "[       ok ]", "[  passed  ]", "[  failed  ]", "[  skipped ]",
      "[----------]", "<function ",   "<testcase ",   "error: test_"};
  const bool names_a_test = has(line, "test");  // "arguments were passed" is no verdict
  const bool verdict = line.ends_with(" passed") || line.ends_with(" xfail") ||
                       line.ends_with(" ... ok") || has(line, " passed [") ||
                       line.starts_with("passed ");
  const bool of_unittest = line.starts_with("test_") && has(line, ") ... ") &&
                           (line.ends_with(" fail") || line.ends_with(" error"));
  const std::size_t number = line.find(" test ");  // " 1/2 Test  #1: name ....   Passed"
  const bool of_ctest = number != npos && has(line.substr(number), "#") &&
                        (has(line, "...") || has(line, "sec")) && has(line.substr(0, number), "/");
  const bool started =
      line.starts_with("start ") && line.find(": ") != npos &&
      trimmed(line.substr(6, line.find(':') - 6)).find_first_not_of(digits) == npos;
  return (names_a_test && verdict) || of_unittest || of_ctest || started ||
         starts_with_any(line, headings) || has(line, " raised as expected");
}

/// `If you see "RuntimeError: ..."`: a condition, and the failure quoted behind it.
bool is_advice(std::string_view line) {
  static constexpr std::array<std::string_view, 6> conditions{
      "if you see", "if you get", "if you encounter", "if you hit", "when you see", "if it says"};
  constexpr std::size_t nearest = 24;  // "an error like"
  return std::any_of(conditions.begin(), conditions.end(), [&](std::string_view condition) {
    const std::size_t at = line.find(condition);
    return at != npos && line.substr(at + condition.size(), nearest).find_first_of(quotes) != npos;
  });
}

constexpr std::array<std::string_view, 19> deeds{
    "fix",   "handle",  "add",        "revert",  "merge",   "avoid", "work around",
    "catch", "improve", "resolve",    "report",  "prevent", "test",  "docs",
    "feat",  "raise",   "workaround", "support", "detect"};

/// `git log --oneline`: a hash, and what was done about the failure.
bool is_commit(std::string_view line) {
  constexpr std::size_t shortest = 7;
  constexpr std::size_t longest = 40;
  line.remove_prefix(std::min(line.find_first_not_of("*|/\\ "), line.size()));  // --graph
  const std::size_t end = line.find_first_not_of(hex_digits);
  if (end == npos || end < shortest || end > longest || line[end] != ' ' ||
      line.substr(0, end).find_first_of("abcdef") == npos) {
    return false;
  }
  std::string_view said = line.substr(end + 1);
  for (const char* pair : {"()", "[]"}) {  // "(HEAD -> main)", "[ROCm]"
    if (said.starts_with(pair[0]) && said.find(pair[1]) != npos) {
      said = trimmed(said.substr(said.find(pair[1]) + 1));
    }
  }
  return starts_with_any(said, deeds);
}

/// "src/rules.py:12:" of grep and compilers, a bullet, a number: what stands before the text.
std::string_view without_place(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon != npos && line.substr(0, colon).find_first_of(" \t") == npos &&
      has(line.substr(0, colon), ".")) {
    const std::size_t end = line.find_first_not_of(digits, colon + 1);
    if (end != npos && end > colon + 1 && (line[end] == ':' || line[end] == '-')) {
      return trimmed(line.substr(end + 1));
    }
  }
  return line;
}

bool is_bullet(std::string_view line) {
  return line.starts_with("* ") || line.starts_with("- ") || line.starts_with("+ ");
}

/// A failure's text within a program's text: compared, raised, listed, explained.
bool is_source(std::string_view line) {
  static constexpr std::array<std::string_view, 22> beginnings{
      "if ",      "if(",    "elif ",   "else if", "case ",       "return ",
      "raise ",   "throw ", "assert",  "expect_", "self.assert", "except ",
      "with ",    "print(", "logger.", "log.",    "logging.",    "warnings.warn(",
      "#define ", "//",     "/*",      "static "};
  const bool in_a_list = quotes.find(line.front()) != npos && line.ends_with(',') &&
                         line.size() > 2 && line[line.size() - 2] == line.front() &&
                         !has(line, "\": ");
  const bool assigned = line.ends_with(']') && has(line, " = [");
  return in_a_list || assigned || starts_with_any(line, beginnings) || has(line, " in str(");
}

/// A failure's text within a text for people.
bool is_prose(std::string_view line) {
  static constexpr std::array<std::string_view, 7> beginnings{
      "if ", "when ", "whenever ", "in case of ", "common ", "--", "known issue"};
  static constexpr std::array<std::string_view, 26> turns{
      " typically ",   " usually ",   "error means",    " mean\"?",    "\" mean",
      "\" means",      "` means",     "occurs when",    "occurs if",   "happens when",
      "raised when",   "thrown when", "may see ",       "might see ",  "will see ",
      "may get ",      "might get ",  "may encounter ", "errors like", "error like ",
      "such as \"",    "such as `",   "error such as",  "e.g. ",       "for example",
      "fixed an issue"};
  static constexpr std::array<std::string_view, 4> reports{" i ", " i'm ", " we ", " my "};
  return line.starts_with("q: ") ||
         ((starts_with_any(line, beginnings) || has_any(line, turns)) && !has_any(line, reports));
}

/// "## RuntimeError: ...", "| text | cause |", "- **text**: do this", "#12 open text"
bool is_markup(std::string_view line) {
  constexpr std::size_t deepest = 6;
  const std::size_t level = line.find_first_not_of('#');
  const bool heading =
      level != npos && level > 0 && level <= deepest && (line[level] == ' ' || line[level] == '\t');
  const bool row = line.starts_with("| ") && line.ends_with('|') && line.size() > 2;
  const bool item =
      is_bullet(line) &&
      starts_with_any(trimmed(line.substr(2)), std::array<std::string_view, 3>{"**", "`", "\""});
  const std::size_t end = line.starts_with('#') ? line.find_first_not_of(digits, 1) : npos;
  const std::string_view state = end == npos || end == 1 ? "" : trimmed(line.substr(end));
  return heading || row || item || state.starts_with("open") || state.starts_with("closed");
}

/// "* Fixed `HIP error: ...` on Windows"
bool is_change(std::string_view line) {
  return is_bullet(line) && starts_with_any(trimmed(line.substr(2)), deeds);
}

bool is_foreseen(std::string_view line) {
  return has(line, " expected error") || has(line, "(expected)") || has(line, " as expected") ||
         has(line, "known issue:");
}

}  // namespace

weight weight_of(std::string_view line) {
  const std::string_view whole = trimmed(line);
  if (whole.empty()) {
    return weight::full;
  }
  if (is_test_result(whole) || is_advice(whole) || is_commit(whole)) {
    return weight::none;
  }
  const std::string_view text = without_place(whole);
  if (text.empty()) {
    return weight::full;
  }
  const bool quotes_something = text.find_first_of(quotes) != npos;
  const bool slight = is_markup(text) || is_change(text) || is_foreseen(text) ||
                      text.starts_with("// ") ||
                      (quotes_something && (is_source(text) || is_prose(text)));
  return slight ? weight::slight : weight::full;
}

std::string without_test_names(std::string_view line) {
  const std::size_t id = line.find(".py::");
  if (id == npos) {
    return "";
  }
  constexpr std::size_t file_end = 3;  // ".py": where it stands is a fact, its name is not
  const std::size_t begin = id + file_end;
  std::size_t end = line.find_first_of(" \t", begin);
  const std::size_t bracket = line.find('[', begin);  // parameters may hold blanks
  if (bracket < end) {
    end = line.find(']', bracket);
  }
  end = std::min(end, line.size());
  std::string rest(line);
  return rest.replace(begin, end - begin, end - begin, ' ');
}

weight quoted_block::next(std::string_view line) {
  constexpr std::size_t hash = 40;
  constexpr std::string_view commit = "commit ";
  if (line.starts_with(commit) &&
      line.substr(commit.size(), hash).find_first_not_of(hex_digits) == npos &&
      line.size() >= commit.size() + hash) {
    kind_ = kind::commit;
    return weight::full;
  }
  if (line.starts_with("diff --git ") || line.starts_with("@@ -")) {
    kind_ = kind::patch;
    return weight::full;
  }
  if (kind_ == kind::commit) {
    static constexpr std::array<std::string_view, 5> heads{
        "author:", "date:", "merge:", "commit:", "authordate:"};
    if (line.starts_with("    ")) {
      return weight::none;
    }
    kind_ = trimmed(line).empty() || starts_with_any(line, heads) ? kind::commit : kind::none;
  } else if (kind_ == kind::patch) {
    static constexpr std::array<std::string_view, 7> heads{
        "index ", "new file", "deleted ", "old mode", "rename ", "similarity", "\\ no newline"};
    if (!line.empty() && std::string_view("+- ").find(line.front()) != npos) {
      return weight::slight;
    }
    kind_ = trimmed(line).empty() || starts_with_any(line, heads) ? kind::patch : kind::none;
  }
  return weight::full;
}

}  // namespace assay
