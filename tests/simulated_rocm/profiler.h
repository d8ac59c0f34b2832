// SPDX-License-Identifier: Apache-2.0
// What ran on the simulated device, for Kineto.
#pragma once

#include <cstdint>
#include <string>

namespace assay_simulated {

// Ties a call of the runtime to what it started, and both to an operator.
struct Launch {
  uint64_t id = 0;
  uint64_t launched_by = 0;
};

enum class ActivityKind { kernel, copy, runtime };

struct Activity {
  std::string name;
  ActivityKind kind = ActivityKind::kernel;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  Launch launch;
  int64_t device = 0;    // of the runtime: the process
  int64_t resource = 0;  // the stream; of the runtime: the thread
  int64_t bytes = 0;
};

int64_t profile_ns();
void record_activity(Activity activity);
// By the operator that is running on this thread.
Launch next_launch();

// A call of HIP's runtime, from construction to destruction.
class RuntimeCall {
 public:
  explicit RuntimeCall(const char* name) : RuntimeCall(name, next_launch()) {}
  // A launch without an id is not shown.
  RuntimeCall(const char* name, Launch launch);
  RuntimeCall(const RuntimeCall&) = delete;
  RuntimeCall& operator=(const RuntimeCall&) = delete;
  ~RuntimeCall();

 private:
  const char* name_;
  Launch launch_;
  int64_t start_ns_ = 0;
};

}  // namespace assay_simulated
