// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace assay {

/// What a NAME.assay.toml is for, by its table headers: both, when it holds both.
struct pack_contents {
  bool checks = false;  // [[check]] or [[category]]: an op pack, the worker's
  bool rules = false;   // [[diagnosis]] or [[classifier]]: a rule file, of host/diagnosis
};

/// Goes once over the text without parsing it, since every run asks this of every such file. A
/// header is one where it begins a line.
inline pack_contents contents_of(std::string_view text) {
  constexpr std::string_view blanks = " \t";
  const auto names = [&](std::string_view header, std::string_view word) {
    header.remove_prefix(std::min(header.find_first_not_of(blanks), header.size()));
    return header.starts_with(word) &&
           header.substr(word.size()).find_first_of("] \t.") == std::size_t{0};
  };
  pack_contents found;
  for (auto at = text.find("[["); at != std::string_view::npos; at = text.find("[[", at + 2)) {
    const auto before = text.substr(0, at).find_last_not_of(blanks);
    const bool begins_line = before == std::string_view::npos || text[before] == '\n' ||
                             (before == 2 && text.starts_with("\xEF\xBB\xBF"));
    if (begins_line) {
      const std::string_view header = text.substr(at + 2);
      found.checks = found.checks || names(header, "check") || names(header, "category");
      found.rules = found.rules || names(header, "diagnosis") || names(header, "classifier");
    }
  }
  return found;
}

}  // namespace assay
