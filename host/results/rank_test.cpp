// SPDX-License-Identifier: Apache-2.0
#include "rank_test.hpp"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <numeric>
#include <utility>

namespace assay {

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) {
    return *middle;
  }
  return (*middle + *std::max_element(values.begin(), middle)) / 2.0;
}

std::optional<double> rank_test_p(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() < fewest_samples || b.size() < fewest_samples) {
    return std::nullopt;
  }
  std::vector<std::pair<double, bool>> all;  // value, of a
  all.reserve(a.size() + b.size());
  for (const double value : a) {
    all.emplace_back(value, true);
  }
  for (const double value : b) {
    all.emplace_back(value, false);
  }
  std::sort(all.begin(), all.end());
  double rank_sum = 0.0;  // of a
  double ties = 0.0;
  for (std::size_t begin = 0; begin < all.size();) {
    std::size_t end = begin;
    std::size_t of_a = 0;
    for (; end < all.size() && all[end].first == all[begin].first; ++end) {
      of_a += all[end].second ? 1 : 0;
    }
    const auto count = static_cast<double>(end - begin);
    const double rank = (static_cast<double>(begin + end) + 1.0) / 2.0;  // ranks count from 1
    rank_sum += rank * static_cast<double>(of_a);
    ties += count * count * count - count;
    begin = end;
  }
  const auto na = static_cast<double>(a.size());
  const auto nb = static_cast<double>(b.size());
  const double n = na + nb;
  const double u = rank_sum - na * (na + 1.0) / 2.0;
  const double variance = na * nb / 12.0 * (n + 1.0 - ties / (n * (n - 1.0)));
  if (variance <= 0.0) {
    return std::nullopt;
  }
  const double away = std::max(0.0, std::abs(u - na * nb / 2.0) - 0.5);
  const boost::math::normal standard;
  return std::min(
      1.0, 2.0 * boost::math::cdf(boost::math::complement(standard, away / std::sqrt(variance))));
}

std::vector<double> holm_adjusted(const std::vector<double>& p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) { return p[x] < p[y]; });
  std::vector<double> adjusted(p.size());
  double largest = 0.0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    largest = std::max(largest, static_cast<double>(p.size() - i) * p[order[i]]);
    adjusted[order[i]] = std::min(1.0, largest);
  }
  return adjusted;
}

}  // namespace assay
