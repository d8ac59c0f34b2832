// SPDX-License-Identifier: Apache-2.0
// Apart because the profiler's headers are slow to compile.
#include "kernel_profile.hpp"

#include <torch/csrc/autograd/profiler_kineto.h>

#include <set>

#include "timing.hpp"

namespace assay::benchmarks {

namespace {
// libkineto::ActivityType, whose header is not part of every LibTorch.
constexpr std::uint8_t gpu_memcpy = 3;
constexpr std::uint8_t gpu_memset = 4;
constexpr std::uint8_t concurrent_kernel = 5;

bool is_work(const torch::autograd::profiler::KinetoEvent& event) {
  const std::uint8_t type = event.activityType();
  return event.deviceType() == at::kCUDA &&
         (type == gpu_memcpy || type == gpu_memset || type == concurrent_kernel);
}
}  // namespace

kernel_profile profile_kernels(engine::bound_plan& plan, const engine::device_clock& clock,
                               std::int64_t calls) {
  namespace profiler = torch::autograd::profiler;
  namespace impl = torch::profiler::impl;
  const std::set<impl::ActivityType> types{impl::ActivityType::CPU, impl::ActivityType::CUDA};
  const impl::ProfilerConfig config(impl::ProfilerState::KINETO, false, false, false, false, false);
  clock.synchronize();
  profiler::prepareProfiler(config, types);
  profiler::enableProfiler(config, types);
  engine::time_batch(plan, clock, calls);
  const auto recorded = profiler::disableProfiler();
  kernel_profile sum;
  for (const auto& event : recorded->events()) {
    if (is_work(event)) {
      sum.us_per_call += static_cast<double>(event.durationNs()) / 1e3;
      sum.activities_per_call += 1.0;
    }
  }
  const auto count = static_cast<double>(calls);
  return {sum.us_per_call / count, sum.activities_per_call / count};
}

}  // namespace assay::benchmarks
