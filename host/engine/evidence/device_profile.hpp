// SPDX-License-Identifier: Apache-2.0
//
// What LibTorch's profiler sees of a plan's calls: kernels, copies, and how the device's time lies
// within the host's.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bind.hpp"
#include "clock.hpp"

namespace assay::engine {

/// Per call; times in microseconds. See docs/evidence-format.md, `profiler`.
struct device_profile {
  struct kernel {
    std::string name;
    double count = 0.0;
    double us = 0.0;
  };
  struct copy {
    double count = 0.0;
    std::optional<double> bytes;
    double us = 0.0;
  };

  bool seen = false;
  std::string why;  // not seen
  int calls = 0;
  std::vector<kernel> kernels;  // the longest first
  std::map<std::string, copy> copies;
  double kernel_us = 0.0, kernel_count = 0.0, memset_us = 0.0;
  double call_us = 0.0, dispatch_us = 0.0, busy_us = 0.0, copy_us = 0.0, idle_us = 0.0;
  std::optional<double> syncs;
  std::string trace_file;  // that was written
};

/// Whether the profiler sees this kind of device at all, asked once, with a kernel that is sure to
/// run there. The first call starts the profiler's tracer, which may print.
bool profiler_sees(const c10::Device& device);
inline constexpr const char* profiler_is_blind =
    "LibTorch's profiler sees no kernels of this device: its tracer is switched off, missing or "
    "lacks permission";

/// Profiles a few calls, each synchronised. `trace_file`: where the profiler's own trace goes; ""
/// for none. Throws what the plan or the device throws; a profiler that sees nothing is an answer.
device_profile profile_calls(bound_plan& plan, const c10::Device& device,
                             const std::string& trace_file);

}  // namespace assay::engine
