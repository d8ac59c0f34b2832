// SPDX-License-Identifier: Apache-2.0
// What the environment variable SIMULATED_ROCM asks for; README.md lists the switches.
#pragma once

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
  int64_t slow_ns = 0;
  int64_t slow_submit_ns = 0;
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
  int64_t kernel_ns() const { return kernel_ns_; }

 private:
  void read(std::string_view key, std::string_view value);

  std::map<std::string, Faults> faults_;
  int devices_ = 1;
  int64_t kernel_ns_ = 5'000;
};

// Read once. A text that is not understood ends the process: a test must not pass because its fault
// was misspelt.
const Switches& switches();

}  // namespace assay_simulated
