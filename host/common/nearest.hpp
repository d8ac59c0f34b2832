// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

/// Single-character insertions, deletions, substitutions and swaps of neighbours.
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before;  // the row for a[0, i - 2)
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) {
    row[j] = j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(above, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] =
          std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

/// The candidate that `wanted` was most likely meant to be; "" when none is close (more than a
/// third of the letters differ, or all of a short word's do). Among those equally close, one of the
/// same length goes first.
template <typename Range>
std::string nearest(std::string_view wanted, const Range& candidates) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(1, wanted.size() / 3) + 1;
  for (const auto& candidate : candidates) {
    const std::size_t distance = edit_distance(wanted, candidate);
    if (distance >= std::max(wanted.size(), std::string_view(candidate).size())) {
      continue;  // they have no letter in common
    }
    const bool as_close = distance == best_distance && !best.empty();
    if (distance < best_distance || (as_close && best.size() != wanted.size() &&
                                     std::string_view(candidate).size() == wanted.size())) {
      best_distance = distance;
      best = std::string(candidate);
    }
  }
  return best;
}

/// "a, b, c": what a message offers.
template <typename Range>
std::string word_list(const Range& words) {
  std::string text;
  for (const auto& word : words) {
    text += (text.empty() ? "" : ", ") + std::string(word);
  }
  return text;
}

/// "; did you mean 'x'?", or "" when nothing is near.
template <typename Range>
std::string did_you_mean(std::string_view wanted, const Range& candidates) {
  const std::string best = nearest(wanted, candidates);
  return best.empty() ? "" : "; did you mean '" + best + "'?";
}

}  // namespace assay
