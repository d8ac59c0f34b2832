// SPDX-License-Identifier: Apache-2.0
//
// Where a series of medians, one a run, changed its level.
#pragma once

#include <cstddef>
#include <vector>

namespace assay {

struct level_shift {
  std::size_t at = 0;                // index of the first value of the new level
  double before = 0.0, after = 0.0;  // medians of the values on both sides
};

/// All shifts of a series of positive values, in its order. The medians of up to `window` values
/// before and behind a place are compared: it is a shift where they differ by `least_ratio` or
/// more, and by `over_noise` times the median absolute deviation of the logarithms within both
/// windows or more, with `fewest` values on each side. The greatest splits the series, at the place
/// nearby from whose two medians the values deviate least; each side is then searched alone.
struct shift_rules {
  double least_ratio = 1.10;
  double over_noise = 4.0;
  std::size_t fewest = 3;
  std::size_t window = 10;
};
std::vector<level_shift> level_shifts(const std::vector<double>& values,
                                      const shift_rules& rules = {});

}  // namespace assay
