// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "clock.hpp"
#include "timing.hpp"

namespace assay::benchmarks {

/// Calls in one batch: about a millisecond's worth.
template <typename Batch>
std::int64_t batch_size(Batch&& batch) {
  batch(3);
  const auto begin = engine::host_clock::now();
  batch(10);
  const double call_us = engine::us_between(begin, engine::host_clock::now()) / 10.0;
  return std::clamp<std::int64_t>(std::llround(1000.0 / std::max(call_us, 0.001)), 1, 1000);
}

/// Times two ways to do the same thing, batch by batch in turn and in changing order, so that
/// whatever else the machine does falls on both. Both batches take a number of calls and answer
/// nanoseconds per call. The benchmark's one iteration is all of that; its time is that of one call
/// of `ours`, and the counters are medians over the pairs.
template <typename Ours, typename Theirs>
void run_paired(benchmark::State& state, const std::string& our_name, Ours&& ours,
                const std::string& their_name, Theirs&& theirs) {
  constexpr double sampling_us = 500e3;
  constexpr std::size_t fewest_pairs = 10;
  const std::int64_t calls = batch_size(ours);
  for ([[maybe_unused]] auto step : state) {
    std::vector<double> our_ns;
    std::vector<double> their_ns;
    std::vector<double> difference_ns;
    const auto begin = engine::host_clock::now();
    while (our_ns.size() < fewest_pairs ||
           engine::us_between(begin, engine::host_clock::now()) < sampling_us) {
      const bool ours_first = our_ns.size() % 2 == 0;
      const double theirs_before = ours_first ? 0.0 : theirs(calls);
      our_ns.push_back(ours(calls));
      their_ns.push_back(ours_first ? theirs(calls) : theirs_before);
      difference_ns.push_back(our_ns.back() - their_ns.back());
    }
    const auto difference = engine::summarize(difference_ns);
    state.counters[our_name] = engine::summarize(our_ns).median;
    state.counters[their_name] = engine::summarize(their_ns).median;
    state.counters["difference_ns"] = difference.median;
    state.counters["plus_minus_ns"] = difference.half_width;
    state.SetIterationTime(state.counters[our_name] * 1e-9);
  }
}

/// Nanoseconds per call of a function that is called `calls` times.
template <typename Call>
double time_calls(std::int64_t calls, Call&& call) {
  const auto begin = engine::host_clock::now();
  for (std::int64_t i = 0; i < calls; ++i) {
    call();
  }
  return engine::us_between(begin, engine::host_clock::now()) * 1e3 / static_cast<double>(calls);
}

/// The same of a plan, as the engine times it.
inline double time_plan_calls(engine::bound_plan& plan, std::int64_t calls) {
  return engine::time_batch(plan, engine::clock_of(at::kCPU), calls).wall_us * 1e3;
}

}  // namespace assay::benchmarks
