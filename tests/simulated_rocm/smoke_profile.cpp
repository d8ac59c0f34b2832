// SPDX-License-Identifier: Apache-2.0
// Apart from the other checks because the profiler's headers are slow to compile.
#include <ATen/core/Tensor.h>
#include <ATen/ops/gelu.h>
#include <torch/csrc/autograd/profiler_kineto.h>

#include <map>
#include <set>

#include "smoke_checks.h"

namespace smoke {

std::string profile(const Inputs& inputs) {
  using namespace torch::autograd::profiler;
  using torch::profiler::impl::ActivityType;
  const std::set<ActivityType> types = {ActivityType::CPU, ActivityType::CUDA};
  const torch::profiler::impl::ProfilerConfig config(torch::profiler::impl::ProfilerState::KINETO,
                                                     true, false, false, false, false);
  prepareProfiler(config, types);
  enableProfiler(config, types);
  const auto result = at::gelu(inputs.x).to(at::kCPU);
  const auto recorded = disableProfiler();
  std::map<uint64_t, std::string> operators;
  for (const auto& event : recorded->events()) {
    if (event.deviceType() == at::kCPU) operators[event.correlationId()] = event.name();
  }
  std::string text;
  for (const auto& event : recorded->events()) {
    if (event.deviceType() != at::kCUDA || event.durationNs() == 0) continue;
    text += event.name() + " <- " + operators[event.linkedCorrelationId()] + "\n";
  }
  return text;
}

}  // namespace smoke
