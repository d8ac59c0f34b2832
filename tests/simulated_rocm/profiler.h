// SPDX-License-Identifier: Apache-2.0
// What ran on the simulated device, for Kineto.
#pragma once

#include <cstdint>
#include <string>

namespace assay_simulated {

struct Activity {
  std::string name;
  int64_t start_ns;
  int64_t end_ns;
  uint64_t correlation;  // the operator that launched it
  int device;
  int64_t stream;
  bool copy;
};

int64_t profile_ns();
void record_activity(Activity activity);
// Of the operator that is running on this thread; 0 without a profiler.
uint64_t current_correlation();

}  // namespace assay_simulated
