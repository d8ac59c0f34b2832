// SPDX-License-Identifier: Apache-2.0
//
// What changed between two sets of runs. Pure functions of what was read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "saved_run.hpp"

namespace assay {

inline constexpr double default_slower_percent = 5.0;

/// What makes a comparison end as a regression.
struct regression_rules {
  bool error = true;        // a check that ran now errs, crashes, hangs, or is gone
  bool fallback = true;     // links on_device and no_fallback became worse
  bool path = true;         // link path became worse
  bool correctness = true;  // link correct became worse
  std::optional<double> slower_percent = default_slower_percent;
  double significance = 0.01;   // of the rank test, after Holm's correction
  bool across_devices = false;  // times of unlike devices too, by their copy bandwidth
};

struct environment_change {
  std::string name, before, after;  // "": it was not said
  std::string group{};              // "LibTorch", "driver", "variables": see fingerprint.hpp
};

struct check_change {
  std::string id, device;
  std::string before, after;  // "ok", "error: no such kernel", "skipped"
};

struct link_change {
  std::string id, device;
  std::string link;           // "path", "correct", ...
  std::string before, after;  // "flash", "math (slow)": state and reason, or the path's name
  bool worse = false;
  bool regression = false;  // by the rules
};

struct time_change {
  std::string id, device;
  bool of_device = false;  // device time; else wall time
  double before_us = 0.0, after_us = 0.0;
  double ratio = 1.0;  // after / before, without what all checks have in common
  double p = 1.0;      // adjusted
};

struct comparison {
  std::size_t runs_before = 0, runs_after = 0;
  std::vector<std::string> remarks;
  std::vector<environment_change> environment;
  std::vector<check_change> broken, mended, appeared, vanished, no_longer_run, still_failing;
  std::vector<check_change> not_asked_for;  // gone because the later runs did not select them
  std::vector<link_change> links;
  std::vector<time_change> slower, faster;
  std::vector<time_change> not_confirmed;  // slower at first, and not when measured again
  std::size_t checks_in_both = 0;
  std::size_t times_tested = 0;         // checks whose times were put to the test
  std::size_t times_untested = 0;       // checks with times and too few samples
  std::vector<time_change> suspicious;  // of the untested: over the threshold, proof of nothing
  std::optional<double> common_ratio;   // what the tested have in common: median of the ratios
  /// How the single ratios scatter about that, as a standard deviation (1.4826 times the median
  /// absolute deviation of the logarithms): what one run and the next differ by anyway.
  std::optional<double> scatter_percent;
  double least_percent = 0.0;                   // from where on a time counted as changed
  std::vector<std::string> times_not_compared;  // devices or checks, with the reason
  bool regression = false;
};

/// Compares all runs of one side with all of the other. Either list has at least one.
comparison compare(const std::vector<saved_run>& before, const std::vector<saved_run>& after,
                   const regression_rules& rules);

/// Whether all checks together became slower by twice the threshold or more.
bool all_became_slower(const comparison& found, const regression_rules& rules);

/// Whether what was found is a regression by these rules; compare() asks it last.
bool is_regression(const comparison& found, const regression_rules& rules);

}  // namespace assay
