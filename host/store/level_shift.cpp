// SPDX-License-Identifier: Apache-2.0
#include "level_shift.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "host/results/rank_test.hpp"

namespace assay {

namespace {

using logs = std::vector<double>;

logs part_of(const logs& all, std::size_t begin, std::size_t end) {
  return {all.begin() + static_cast<std::ptrdiff_t>(begin),
          all.begin() + static_cast<std::ptrdiff_t>(end)};
}

double median_within(const logs& all, std::size_t begin, std::size_t end) {
  return median_of(part_of(all, begin, end));
}

/// The absolute deviations from the median of [begin, end).
logs deviations(const logs& all, std::size_t begin, std::size_t end) {
  logs part = part_of(all, begin, end);
  const double middle = median_of(part);
  for (double& value : part) {
    value = std::abs(value - middle);
  }
  return part;
}

double sum(const logs& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

class shift_search {
 public:
  shift_search(const logs& all, const shift_rules& rules) : all_(all), rules_(rules) {}

  void search(std::size_t begin, std::size_t end) {
    double greatest = 0.0;
    std::size_t about = begin;
    for (std::size_t at = begin + rules_.fewest; at + rules_.fewest <= end; ++at) {
      const double step = step_at(begin, at, end);
      if (step > greatest) {
        greatest = step;
        about = at;
      }
    }
    if (greatest > 0.0) {
      const std::size_t at = refined(begin, about, end);
      search(begin, at);
      splits_.push_back(at);
      search(at, end);
    }
  }

  /// The levels between the splits; a split whose sides do not differ after all is none.
  [[nodiscard]] std::vector<level_shift> shifts() const {
    std::vector<level_shift> found;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < splits_.size(); ++i) {
      const std::size_t end = i + 1 < splits_.size() ? splits_[i + 1] : all_.size();
      const double before = median_within(all_, begin, splits_[i]);
      const double after = median_within(all_, splits_[i], end);
      if (std::abs(after - before) >= std::log(rules_.least_ratio)) {
        found.push_back({splits_[i], std::exp(before), std::exp(after)});
        begin = splits_[i];
      }
    }
    return found;
  }

 private:
  [[nodiscard]] std::size_t left(std::size_t begin, std::size_t at) const {
    return std::max(begin, at - std::min(at, rules_.window));
  }
  [[nodiscard]] std::size_t right(std::size_t at, std::size_t end) const {
    return std::min(end, at + rules_.window);
  }

  /// How far the medians before and behind lie apart; 0 where that is no shift.
  [[nodiscard]] double step_at(std::size_t begin, std::size_t at, std::size_t end) const {
    const std::size_t first = left(begin, at);
    const std::size_t last = right(at, end);
    const double step = std::abs(median_within(all_, at, last) - median_within(all_, first, at));
    if (step < std::log(rules_.least_ratio)) {
      return 0.0;
    }
    logs within = deviations(all_, first, at);
    const logs behind = deviations(all_, at, last);
    within.insert(within.end(), behind.begin(), behind.end());
    return step < rules_.over_noise * median_of(within) ? 0.0 : step;
  }

  /// Medians hardly move with the split; how far the values lie from them does.
  [[nodiscard]] std::size_t refined(std::size_t begin, std::size_t about, std::size_t end) const {
    const std::size_t first = left(begin, about);
    const std::size_t last = right(about, end);
    std::size_t best = about;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t at = first + rules_.fewest; at + rules_.fewest <= last; ++at) {
      const double cost = sum(deviations(all_, first, at)) + sum(deviations(all_, at, last));
      if (cost < least) {
        least = cost;
        best = at;
      }
    }
    return best;
  }

  const logs& all_;
  const shift_rules& rules_;
  std::vector<std::size_t> splits_;  // ascending
};

}  // namespace

std::vector<level_shift> level_shifts(const std::vector<double>& values, const shift_rules& rules) {
  logs all;
  all.reserve(values.size());
  for (const double value : values) {
    all.push_back(std::log(value));
  }
  shift_search search(all, rules);
  search.search(0, all.size());
  return search.shifts();
}

}  // namespace assay
