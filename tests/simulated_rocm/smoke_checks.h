// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace smoke {

struct Inputs {
  at::Tensor x, y, w, b, image, kernel, sequence, kernel1, volume, kernel3, q;
  at::Tensor index, table, ids, left, right, labels;

  static Inputs random(at::ScalarType dtype);
  Inputs to(at::Device device) const;
};

struct Check {
  std::string name;
  std::function<at::Tensor(const Inputs&)> run;
};

const std::vector<Check>& checks();

inline const at::Device device(at::kCUDA, 0);

void expect(bool good, const std::string& what);
int failures();
void synchronize();

// "" when the device's result is the CPU's.
std::string difference(const at::Tensor& expected, const at::Tensor& found);

// What Kineto reports of the device and its runtime.
struct Event {
  std::string kind;  // "kernel", "copy", "runtime"
  std::string name;
  std::string op;  // that it is linked to
  std::string metadata;
  uint64_t start_ns;
  uint64_t end_ns;
  uint64_t launch;
};
// In the order of their starts.
std::vector<Event> profile(const std::function<void()>& run);

// The operators that at::RecordFunction sees, without the calls' nesting.
struct Traced {
  std::string op;
  std::string devices;  // of its tensors, scalars aside: "cuda", "cpu", "cpu+cuda" or ""
};
std::vector<Traced> trace(const std::function<void()>& run);

// With no switch: no work on the host and no copies to or from it inside any check.
void check_clean_runs(const Inputs& in);
void check_profile(const Inputs& in);
// Says how a check went: trace, profile, dispatcher's table, result.
void tell_evidence(const std::string& name, const Inputs& host, const Inputs& on_device);
// Two calls with one result?
void tell_repeatable(const Inputs& in);
void tell_margins(const Inputs& in);
void tell_times(const Inputs& in);

// Runs `program` once for each switch.
void check_switches(const std::string& program, const std::string& folder);

}  // namespace smoke
