// SPDX-License-Identifier: Apache-2.0
//
// Which operators ran inside one call of a plan, where their tensors lay, and what LibTorch's
// dispatcher has for each of them on a backend.
#pragma once

#include <c10/core/Device.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bind.hpp"

namespace assay::engine {

struct traced_operator {
  std::string op;  // "aten::add.Tensor"
  int depth = 0;
  bool leaf = true;
  std::string kernel;  // as docs/evidence-format.md says, `trace.ops[].kernel`
  std::vector<std::string> devices;
  std::int64_t cpu_elements = 0;
  bool crosses = false;
  std::int64_t crossing_elements = 0;
};

struct dispatch_trace {
  std::vector<traced_operator> operators;
  std::size_t left_out = 0;
};

/// Runs the plan once on this thread and notes every operator that is dispatched from it. Throws
/// what the plan throws.
dispatch_trace trace_dispatch(bound_plan& plan, const c10::Device& device);

/// What the dispatcher has for an operator ("aten::add.Tensor") on this device's backend.
std::string kernel_kind(const std::string& op, const c10::Device& device);

}  // namespace assay::engine
