// SPDX-License-Identifier: Apache-2.0
//
// The patterns of --enable and --disable.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "host/common/dtype_names.hpp"

namespace assay {

namespace detail {

struct bracket_match {
  bool matched = false;
  std::size_t next = 0;  // position behind the closing ']'
};

/// The set that begins at pattern[at] == '['; nothing when it is not closed. A ']' that comes first
/// is a member of the set.
inline std::optional<bracket_match> match_bracket(std::string_view pattern, std::size_t at,
                                                  char c) {
  std::size_t i = at + 1;
  const bool negated = i < pattern.size() && pattern[i] == '!';
  i += negated ? 1 : 0;
  const std::size_t close = pattern.find(']', i + 1);
  if (close == std::string_view::npos) {
    return std::nullopt;
  }
  bool found = false;
  while (i < close) {
    const bool range = i + 2 < close && pattern[i + 1] == '-';
    const char last = range ? pattern[i + 2] : pattern[i];
    found = found || (pattern[i] <= c && c <= last);
    i += range ? 3 : 1;
  }
  return bracket_match{found != negated, close + 1};
}

}  // namespace detail

/// Whether all of `text` matches: * any text, ? one character, [abc] [a-z] [!a-z] one of a set.
/// Everything else, a '[' that is never closed included, stands for itself.
inline bool glob_match(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;  // behind the last '*'
  std::size_t star_text = 0;                  // where its text ends, as tried now
  while (t < text.size()) {
    std::size_t next = p;
    if (p < pattern.size() && pattern[p] == '*') {
      star = ++p;
      star_text = t;
      continue;
    }
    if (p < pattern.size()) {
      const auto set =
          pattern[p] == '[' ? detail::match_bracket(pattern, p, text[t]) : std::nullopt;
      if (set ? set->matched : pattern[p] == '?' || pattern[p] == text[t]) {
        next = set ? set->next : p + 1;
      }
    }
    if (next != p) {
      p = next;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') {
    ++p;
  }
  return p == pattern.size();
}

/// Whether a filter names this check under this dtype. It may name the category, "category/name" or
/// the id "category/name[dtype]". A last [..] that can be a dtype is the id's, not a set: without
/// that, "elementwise/add[float32]" would also mean elementwise/add2.
inline bool selects(std::string_view pattern, std::string_view category, std::string_view name,
                    std::string_view dtype) {
  std::string check(category);
  check.append("/").append(name);
  const std::size_t open = pattern.rfind('[');
  if (open != std::string_view::npos && pattern.back() == ']') {
    const std::string_view wanted = pattern.substr(open + 1, pattern.size() - open - 2);
    const auto is_wanted = [&](const auto& known) { return glob_match(wanted, known.second); };
    if (wanted == dtype || std::any_of(dtype_names.begin(), dtype_names.end(), is_wanted)) {
      return glob_match(wanted, dtype) && glob_match(pattern.substr(0, open), check);
    }
  }
  const std::string id = check + "[" + std::string(dtype) + "]";
  return glob_match(pattern, category) || glob_match(pattern, check) || glob_match(pattern, id);
}

}  // namespace assay
