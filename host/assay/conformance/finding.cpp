// SPDX-License-Identifier: Apache-2.0
#include "finding.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "host/assay/collected_run.hpp"

namespace assay::conformance {

const char* name_of(level l) {
  return l == level::error ? "error" : l == level::warning ? "warning" : "note";
}

bool examined_file::loaded() const { return text_of(plugin, "status") == "loaded"; }

namespace {

/// "norm/x[float16]" -> "norm/x", "float16"
std::pair<std::string, std::string> parts_of(const std::string& subject) {
  const auto open = subject.find('[');
  if (open == std::string::npos || subject.back() != ']') {
    return {subject, ""};
  }
  return {subject.substr(0, open), subject.substr(open + 1, subject.size() - open - 2)};
}

/// Numbers differ from dtype to dtype; what stands before the first tells what was found.
std::string before_numbers(const std::string& text) {
  return text.substr(0, text.find_first_of("0123456789"));
}

}  // namespace

void settle(std::vector<finding>& findings) {
  std::vector<finding> settled;
  for (finding& one : findings) {
    const auto [name, dtype] = parts_of(one.subject);
    const auto same = std::find_if(
        settled.begin(), settled.end(), [&, of = name, dtypes = dtype](const finding& other) {
          return !dtypes.empty() && other.is == one.is && other.kind == one.kind &&
                 before_numbers(other.what) == before_numbers(one.what) &&
                 other.advice == one.advice && parts_of(other.subject).first == of &&
                 !parts_of(other.subject).second.empty();
        });
    if (same == settled.end()) {
      settled.push_back(std::move(one));
    } else {
      same->subject.insert(same->subject.size() - 1, ", " + dtype);
    }
  }
  std::stable_sort(settled.begin(), settled.end(),
                   [](const finding& a, const finding& b) { return a.is > b.is; });
  findings = std::move(settled);
}

void speak_of_keys(std::vector<finding>& findings) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 11> keys{{
      {"matrix_flops()", "'cost.matrix_flops'"},
      {"flops()", "'cost.flops'"},
      {"moves()", "'cost.elements'"},
      {"rounds()", "'accuracy.roundings'"},
      {"contracts()", "'accuracy.contraction'"},
      {"dtypes()", "'dtypes'"},
      {"a reference()", "a 'reference'"},
      {"reference()", "'reference'"},
      {"large()", "'large'"},
      {"summary()", "'summary'"},
      {"category() one as its second argument", "the category a 'summary'"},
  }};
  for (finding& one : findings) {
    for (const auto& [call, key] : keys) {
      for (auto at = one.advice.find(call); at != std::string::npos;
           at = one.advice.find(call, at + key.size())) {
        one.advice.replace(at, call.size(), key);
      }
    }
  }
}

std::string first_words(const std::string& text) {
  constexpr std::size_t most = 200;
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) {
    return "";
  }
  std::string line = text.substr(begin, text.find('\n', begin) - begin);
  if (line.size() > most) {
    line.resize(most);
    line += "...";
  }
  return printable(line);
}

}  // namespace assay::conformance
