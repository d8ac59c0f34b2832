// SPDX-License-Identifier: Apache-2.0
// Apart from the other checks because the profiler's headers are slow to compile.
#include <kineto/ActivityType.h>
#include <torch/csrc/autograd/profiler_kineto.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "smoke_checks.h"

namespace smoke {
namespace {

const char* kind_of(const torch::autograd::profiler::KinetoEvent& event) {
  switch (static_cast<libkineto::ActivityType>(event.activityType())) {
    case libkineto::ActivityType::CONCURRENT_KERNEL:
      return "kernel";
    case libkineto::ActivityType::GPU_MEMCPY:
      return "copy";
    case libkineto::ActivityType::CUDA_RUNTIME:
      return "runtime";
    default:
      return nullptr;
  }
}

// LibTorch 2.6 does not hand out what Kineto knows of an event.
template <typename Config>
void ask_for_metadata(Config& config) {
  if constexpr (requires { config.expose_kineto_event_metadata; }) {
    config.expose_kineto_event_metadata = true;
  }
}

template <typename ProfilerEvent>
std::string metadata_of(const ProfilerEvent& event) {
  if constexpr (requires { event.metadataJson(); }) {
    return event.metadataJson();
  } else {
    return "";
  }
}

}  // namespace

std::vector<Event> profile(const std::function<void()>& run) {
  using namespace torch::autograd::profiler;
  namespace impl = torch::profiler::impl;
  const std::set<impl::ActivityType> types = {impl::ActivityType::CPU, impl::ActivityType::CUDA};
  impl::ExperimentalConfig experimental;
  ask_for_metadata(experimental);
  const impl::ProfilerConfig config(impl::ProfilerState::KINETO, false, false, false, false, false,
                                    experimental);
  prepareProfiler(config, types);
  enableProfiler(config, types);
  run();
  synchronize();
  const auto recorded = disableProfiler();
  std::map<uint64_t, std::string> operators;
  for (const auto& event : recorded->events()) {
    if (event.activityType() == 0) operators[event.correlationId()] = event.name();
  }
  std::vector<Event> events;
  for (const auto& event : recorded->events()) {
    if (const char* kind = kind_of(event)) {
      events.push_back({kind, event.name(), operators[event.linkedCorrelationId()],
                        metadata_of(event), event.startNs(), event.endNs(), event.correlationId()});
    }
  }
  std::sort(events.begin(), events.end(),
            [](const Event& a, const Event& b) { return a.start_ns < b.start_ns; });
  return events;
}

}  // namespace smoke
