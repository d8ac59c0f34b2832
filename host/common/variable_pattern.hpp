// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string_view>

namespace assay {

/// "OMP_NUM_THREADS", "MIOPEN_*": a variable's name, or its beginning and a '*'. Three characters
/// at least, so that no file asks for everything.
inline bool is_variable_pattern(std::string_view text) {
  if (text.ends_with('*')) {
    text.remove_suffix(1);
  }
  return text.size() >= 3 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                  c == '_';
         });
}

inline bool matches_variable(std::string_view pattern, std::string_view name) {
  return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1))
                                : name == pattern;
}

inline constexpr const char* variable_pattern_rule =
    "holds names of variables; a '*' may stand at the end, behind three characters or more";

}  // namespace assay
