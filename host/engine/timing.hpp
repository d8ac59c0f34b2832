// SPDX-License-Identifier: Apache-2.0
//
// The timing harness: how often a plan is called, and what is read off the clocks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bind.hpp"
#include "clock.hpp"

namespace assay::engine {

struct timing_rules {
  std::int32_t profile = 0;      // assay_profile
  double measure_limit_s = 2.0;  // profile measure: time for warm-up and samples of one check
};

struct batch_times {
  double submit_us;  // host time per call until the call returned
  double wall_us;    // host time per call, the batch synchronised
};

/// Times `calls` calls as one batch, from an idle device. The loop around the calls is all that
/// the harness adds (tests/benchmarks/harness_benchmark.cpp measures it).
batch_times time_batch(bound_plan& plan, const device_clock& clock, std::int64_t calls);

/// Median time of one call, in microseconds, whose data are in no cache: before each call memory of
/// the size of the largest last-level caches is overwritten. Device time; on the CPU wall time.
double time_cold(bound_plan& plan, device_clock& clock, double submit_us);

struct summary_statistics {
  double median, mad, minimum;
  double half_width;  // of the median's 95 % confidence interval, by order statistics
};
summary_statistics summarize(std::vector<double> samples);

/// Everything in microseconds per call; see docs/results-format.md, `timing`.
struct timing_result {
  double first_call_us = 0.0;
  std::int64_t warm_up_calls = 0;
  std::int64_t calls = 0;
  double submit_us = 0.0;
  double wall_us = 0.0;
  std::optional<double> device_us;
  bool device_held = false;
  std::vector<double> wall_samples_us, device_samples_us;  // profile measure
  std::optional<summary_statistics> wall_spread, device_spread;
  std::string stop_reason;
};

/// Called as a phase begins.
using phase_callback = std::function<void(const char*)>;

/// Runs a bound plan by the rules of its profile. Whatever the plan or the device throws goes
/// through. The first call has a phase of its own.
timing_result time_plan(bound_plan& plan, device_clock& clock, const timing_rules& rules,
                        const phase_callback& phase);

}  // namespace assay::engine
