// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "bind.hpp"
#include "clock.hpp"

namespace assay::benchmarks {

struct kernel_profile {
  double us_per_call = 0.0;  // sum of the durations of kernels, memory sets and copies
  double activities_per_call = 0.0;
};

/// What LibTorch's profiler says of one batch of calls, enqueued without a hold.
kernel_profile profile_kernels(engine::bound_plan& plan, const engine::device_clock& clock,
                               std::int64_t calls);

}  // namespace assay::benchmarks
