// SPDX-License-Identifier: Apache-2.0
#include "timing.hpp"

#include <algorithm>
#include <cmath>

#include "engine_api.h"

namespace assay::engine {

namespace {

constexpr std::int64_t classic_warm_up_calls = 3;  // the first call included
constexpr std::int64_t classic_calls = 20;
constexpr std::int64_t fewest_calls = 3;
constexpr double quick_cap_us = 100e3;

// Profile measure. A batch spans far more than the clocks resolve (tens of nanoseconds on the host,
// half a microsecond for events).
constexpr double batch_target_us = 1000.0;
constexpr std::int64_t largest_batch = 1000;
constexpr std::size_t fewest_samples = 10;
constexpr std::size_t most_samples = 1000;
constexpr double steady_width = 0.02;       // of the median
constexpr double warm_up_agreement = 0.02;  // of three batches in a row
constexpr double warm_up_share = 0.25;      // of the time limit, at most

void call_times(bound_plan& plan, std::int64_t calls) {
  for (std::int64_t i = 0; i < calls; ++i) {
    plan.run();
  }
}

// Enqueueing must end before the hold does; submit time scatters.
double hold_for(double submit_us, std::int64_t calls) {
  return 1.5 * submit_us * static_cast<double>(calls) + 50.0;
}

struct device_batch {
  double us;
  bool held;
};

device_batch time_device_batch(bound_plan& plan, device_clock& clock, std::int64_t calls,
                               double submit_us) {
  plan.restore_inputs();
  const auto span =
      clock.time_on_device(hold_for(submit_us, calls), [&] { call_times(plan, calls); });
  return {span.us / static_cast<double>(calls), span.held};
}

std::int64_t calls_within(double budget_us, double call_us, std::int64_t most) {
  if (call_us <= 0.0) {
    return most;
  }
  const double fit = budget_us / call_us;
  return fit >= static_cast<double>(most) ? most : std::max<std::int64_t>(1, std::llround(fit));
}

void measure_counted(bound_plan& plan, device_clock& clock, bool capped,
                     const phase_callback& phase, timing_result& result) {
  phase("warm_up");
  const auto warm_begin = host_clock::now();
  call_times(plan, classic_warm_up_calls - 1);
  clock.synchronize();
  const double warm_us = us_between(warm_begin, host_clock::now()) / (classic_warm_up_calls - 1);
  result.warm_up_calls = classic_warm_up_calls;
  result.calls = classic_calls;
  result.stop_reason = "count";
  if (capped) {
    result.calls = std::max(fewest_calls, calls_within(quick_cap_us, warm_us, classic_calls));
    result.stop_reason = result.calls < classic_calls ? "time_cap" : "count";
  }

  phase("timed");
  const batch_times host = time_batch(plan, clock, result.calls);
  result.submit_us = host.submit_us;
  result.wall_us = host.wall_us;
  if (clock.has_device_time()) {
    phase("device_time");
    const std::int64_t calls = calls_within(quick_cap_us, host.wall_us, classic_calls);
    const device_batch device = time_device_batch(plan, clock, calls, host.submit_us);
    result.device_us = device.us;
    result.device_held = device.held;
  }
}

// Until three batches in a row agree, or a share of the time limit is gone: clocks rise, caches
// fill, allocators settle.
std::int64_t warm_up(bound_plan& plan, device_clock& clock, std::int64_t calls,
                     host_clock::time_point deadline) {
  std::int64_t done = 0;
  std::vector<double> last;
  while (host_clock::now() < deadline) {
    last.push_back(time_batch(plan, clock, calls).wall_us);
    done += calls;
    if (last.size() >= 3) {
      const auto [low, high] = std::minmax_element(last.end() - 3, last.end());
      if (*high - *low <= warm_up_agreement * *low) {
        break;
      }
    }
  }
  return done;
}

bool steady(const std::vector<double>& samples) {
  if (samples.size() < fewest_samples) {
    return false;
  }
  const summary_statistics s = summarize(samples);
  return s.half_width <= steady_width * s.median;
}

void measure_until_steady(bound_plan& plan, device_clock& clock, double limit_s,
                          const phase_callback& phase, timing_result& result) {
  phase("warm_up");
  const auto begin = host_clock::now();
  const auto after = [&](double share) {
    return begin + std::chrono::duration_cast<host_clock::duration>(
                       std::chrono::duration<double>(limit_s * share));
  };
  const double call_us = time_batch(plan, clock, fewest_calls).wall_us;
  const std::int64_t calls = calls_within(batch_target_us, call_us, largest_batch);
  result.warm_up_calls = 1 + fewest_calls + warm_up(plan, clock, calls, after(warm_up_share));

  phase("timed");
  std::vector<double> submit_samples;
  bool all_held = true;
  do {
    const batch_times host = time_batch(plan, clock, calls);
    submit_samples.push_back(host.submit_us);
    result.wall_samples_us.push_back(host.wall_us);
    if (clock.has_device_time()) {
      const device_batch device = time_device_batch(plan, clock, calls, host.submit_us);
      result.device_samples_us.push_back(device.us);
      all_held = all_held && device.held;
    }
    if (steady(result.wall_samples_us) &&
        (!clock.has_device_time() || steady(result.device_samples_us))) {
      result.stop_reason = "steady";
      break;
    }
    result.stop_reason = "time_limit";
  } while (host_clock::now() < after(1.0) && submit_samples.size() < most_samples);

  result.calls = calls * static_cast<std::int64_t>(submit_samples.size());
  result.submit_us = summarize(submit_samples).median;
  result.wall_spread = summarize(result.wall_samples_us);
  result.wall_us = result.wall_spread->median;
  if (clock.has_device_time()) {
    result.device_spread = summarize(result.device_samples_us);
    result.device_us = result.device_spread->median;
    result.device_held = all_held;
  }
}

}  // namespace

batch_times time_batch(bound_plan& plan, const device_clock& clock, std::int64_t calls) {
  plan.restore_inputs();  // a batch of in-place calls starts from the same values each time
  clock.synchronize();
  const auto begin = host_clock::now();
  call_times(plan, calls);
  const auto submitted = host_clock::now();
  clock.synchronize();
  const auto end = host_clock::now();
  const auto count = static_cast<double>(calls);
  return {us_between(begin, submitted) / count, us_between(begin, end) / count};
}

double time_cold(bound_plan& plan, device_clock& clock, double submit_us) {
  constexpr int device_calls = 20;
  constexpr int host_calls = 5;
  const int calls = clock.has_device_time() ? device_calls : host_calls;
  plan.restore_inputs();
  return summarize(clock.time_cold(calls, hold_for(submit_us, 1), [&] { plan.run(); })).median;
}

summary_statistics summarize(std::vector<double> samples) {
  const auto median_of = [](std::vector<double>& values) {
    const std::size_t middle = values.size() / 2;
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle),
                     values.end());
    const double upper = values[middle];
    if (values.size() % 2 == 1) {
      return upper;
    }
    const double lower =
        *std::max_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle));
    return (lower + upper) / 2.0;
  };
  std::sort(samples.begin(), samples.end());
  const auto n = static_cast<double>(samples.size());
  // Ranks n/2 -+ 1.96 sqrt(n)/2 of the sorted samples bound the median with 95 % confidence
  // (binomial distribution of the count below the median, normal approximation).
  const double reach = 0.98 * std::sqrt(n);
  const auto rank = [&](double r) {
    return samples[static_cast<std::size_t>(std::clamp(r, 0.0, n - 1.0))];
  };
  const double low = rank(std::floor(n / 2.0 - reach) - 1.0);
  const double high = rank(std::ceil(n / 2.0 + reach));
  summary_statistics s{};
  s.minimum = samples.front();
  s.half_width = (high - low) / 2.0;
  s.median = median_of(samples);
  for (double& value : samples) {
    value = std::abs(value - s.median);
  }
  s.mad = median_of(samples);
  return s;
}

timing_result time_plan(bound_plan& plan, device_clock& clock, const timing_rules& rules,
                        const phase_callback& phase) {
  timing_result result;
  clock.synchronize();
  phase("first_call");
  const auto begin = host_clock::now();
  plan.run();
  clock.synchronize();
  result.first_call_us = us_between(begin, host_clock::now());
  if (rules.profile == ASSAY_PROFILE_MEASURE) {
    measure_until_steady(plan, clock, rules.measure_limit_s, phase, result);
  } else {
    measure_counted(plan, clock, rules.profile == ASSAY_PROFILE_QUICK, phase, result);
  }
  return result;
}

}  // namespace assay::engine
