// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

namespace assay {

/// Of a non-empty list.
double median_of(std::vector<double> values);

/// The two-sided p-value of the Mann-Whitney U test (H. Mann and D. Whitney, Ann. Math. Statist.
/// 18, 1947) that both samples come from one distribution: normal approximation with the correction
/// for ties and for continuity. Nothing with fewer than `fewest_samples` on either side, where no
/// difference could be significant, or where all values are equal.
inline constexpr std::size_t fewest_samples = 4;
std::optional<double> rank_test_p(const std::vector<double>& a, const std::vector<double>& b);

/// Holm's step-down correction (S. Holm, Scand. J. Statist. 6, 1979): p-values adjusted for how
/// many there are, in the order given.
std::vector<double> holm_adjusted(const std::vector<double>& p);

}  // namespace assay
