// SPDX-License-Identifier: Apache-2.0
// What the environment variable SIMULATED_ROCM asks for; README.md lists the switches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace assay_simulated {

struct Faults {
  bool missing = false;
  bool cpu_fallback = false;
  bool cpu_output = false;
  bool wrong = false;
  bool nan = false;
  bool hang = false;
  bool crash = false;
  bool poison = false;
  bool miopen_fail = false;
  bool oom = false;
  bool round_trip = false;
  bool slow_path = false;
  bool sync = false;
  bool no_kernel = false;
  bool async_error = false;
  bool zeros = false;
  bool constant = false;
  bool one_wrong = false;
  bool unrepeatable = false;
  bool overrun = false;
  int64_t slow_ns = 0;
  int64_t slow_submit_ns = 0;
  int64_t kernel_ns = -1;  // negative: what every kernel takes

  bool change_results() const {
    return wrong || nan || zeros || constant || one_wrong || unrepeatable || overrun;
  }
};

class Switches {
 public:
  // Throws std::invalid_argument when the text is not understood.
  explicit Switches(std::string_view text);

  // `name` is like "aten::add", `overload` like "Tensor". A switch names either "aten::add" or
  // "aten::add.Tensor".
  Faults faults_of(const std::string& name, const std::string& overload) const;
  const std::map<std::string, Faults>& named() const { return faults_; }

  int devices() const { return devices_; }
  // What a kernel with these faults takes at least.
  int64_t kernel_ns(const Faults& faults) const {
    return std::max(faults.kernel_ns < 0 ? kernel_ns_ : faults.kernel_ns, faults.slow_ns);
  }
  bool profiler() const { return profiler_; }
  bool library_logs() const { return library_logs_; }

 private:
  void read(std::string_view key, std::string_view value);

  std::map<std::string, Faults> faults_;
  int devices_ = 1;
  int64_t kernel_ns_ = 5'000;
  bool profiler_ = true;
  bool library_logs_ = false;
};

// Read once, from SIMULATED_ROCM, or from FILE when that is "@FILE". A text that is not understood
// ends the process: a test must not pass because its fault was misspelt.
const Switches& switches();

}  // namespace assay_simulated
