// SPDX-License-Identifier: Apache-2.0
#include "profiler.h"

// clang-format off
#include <kineto/libkineto.h>
// clang-format on
#include <kineto/output_base.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "queue.h"
#include "switches.h"

namespace assay_simulated {
namespace {

struct Recorder {
  std::mutex mutex;
  std::vector<Activity> activities;
  std::atomic<bool> on{false};
};
Recorder& recorder() {
  static auto* leaked = new Recorder;  // queue threads outlive static destructors
  return *leaked;
}

std::vector<uint64_t>& correlations() {
  thread_local std::vector<uint64_t> of_this_thread;
  return of_this_thread;
}

libkineto::ActivityType type_of(ActivityKind kind) {
  switch (kind) {
    case ActivityKind::copy:
      return libkineto::ActivityType::GPU_MEMCPY;
    case ActivityKind::runtime:
      return libkineto::ActivityType::CUDA_RUNTIME;
    default:
      return libkineto::ActivityType::CONCURRENT_KERNEL;
  }
}

// In the words of Kineto's own tracers.
void add_metadata(libkineto::GenericTraceActivity& entry, const Activity& activity) {
  entry.addMetadata("correlation", activity.launch.id);
  if (activity.kind == ActivityKind::runtime) return;
  entry.addMetadata("device", activity.device);
  entry.addMetadata("stream", activity.resource);
  if (activity.kind != ActivityKind::copy) return;
  const auto ns = static_cast<double>(std::max<int64_t>(activity.end_ns - activity.start_ns, 1));
  entry.addMetadata("bytes", activity.bytes);
  entry.addMetadata("memory bandwidth (GB/s)", static_cast<double>(activity.bytes) / ns);
}

class Session final : public libkineto::IActivityProfilerSession {
 public:
  void start() override {
    auto& shared = recorder();
    const std::lock_guard lock(shared.mutex);
    shared.activities.clear();
    shared.on = true;
    status_ = libkineto::TraceStatus::RECORDING;
  }
  void stop() override {
    for (c10::DeviceIndex device = 0; device < device_count(); ++device) wait_for_device(device);
    recorder().on = false;
    status_ = libkineto::TraceStatus::PROCESSING;
  }
  std::vector<std::string> errors() override { return {}; }
  void processTrace(libkineto::ActivityLogger& logger) override {
    processTrace(
        logger, [](int32_t) -> const libkineto::ITraceActivity* { return nullptr; }, 0, 0);
  }
  void processTrace(libkineto::ActivityLogger& logger, libkineto::getLinkedActivityCallback linked,
                    int64_t /*start*/, int64_t /*end*/) override {
    buffer_ = std::make_unique<libkineto::CpuTraceBuffer>();
    buffer_->span = libkineto::TraceSpan(0, 0, "simulated ROCm device");
    auto& shared = recorder();
    const std::lock_guard lock(shared.mutex);
    for (const auto& activity : shared.activities) {
      auto entry = std::make_unique<libkineto::GenericTraceActivity>(
          buffer_->span, type_of(activity.kind), activity.name);
      entry->startTime = activity.start_ns;
      entry->endTime = activity.end_ns;
      entry->id = static_cast<int32_t>(activity.launch.id);
      entry->device = static_cast<int32_t>(activity.device);
      entry->resource = static_cast<int32_t>(activity.resource);
      entry->linked = linked(static_cast<int32_t>(activity.launch.launched_by));
      add_metadata(*entry, activity);
      entry->log(logger);
      buffer_->activities.push_back(std::move(entry));
    }
    shared.activities.clear();
  }
  std::unique_ptr<libkineto::DeviceInfo> getDeviceInfo() override { return nullptr; }
  std::vector<libkineto::ResourceInfo> getResourceInfos() override { return {}; }
  std::unique_ptr<libkineto::CpuTraceBuffer> getTraceBuffer() override {
    return std::move(buffer_);
  }
  void pushCorrelationId(uint64_t id) override { correlations().push_back(id); }
  void popCorrelationId() override {
    if (!correlations().empty()) correlations().pop_back();
  }

 private:
  std::unique_ptr<libkineto::CpuTraceBuffer> buffer_;
};

class Profiler final : public libkineto::IActivityProfiler {
 public:
  const std::string& name() const override { return name_; }
  const std::set<libkineto::ActivityType>& availableActivities() const override { return types_; }
  std::unique_ptr<libkineto::IActivityProfilerSession> configure(
      const std::set<libkineto::ActivityType>& /*types*/,
      const libkineto::Config& /*config*/) override {
    return std::make_unique<Session>();
  }
  std::unique_ptr<libkineto::IActivityProfilerSession> configure(
      int64_t /*time_ms*/, int64_t /*duration_ms*/,
      const std::set<libkineto::ActivityType>& /*types*/,
      const libkineto::Config& /*config*/) override {
    return std::make_unique<Session>();
  }

 private:
  std::string name_ = "simulated ROCm device";
  std::set<libkineto::ActivityType> types_ = {libkineto::ActivityType::CONCURRENT_KERNEL,
                                              libkineto::ActivityType::GPU_MEMCPY,
                                              libkineto::ActivityType::CUDA_RUNTIME};
};

const bool registered = [] {
  libkineto::api().registerProfilerFactory([] { return std::make_unique<Profiler>(); });
  return true;
}();

}  // namespace

int64_t profile_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

void record_activity(Activity activity) {
  auto& shared = recorder();
  if (!shared.on || !switches().profiler()) return;
  const std::lock_guard lock(shared.mutex);
  shared.activities.push_back(std::move(activity));
}

Launch next_launch() {
  static std::atomic<uint64_t> launches{0};
  return {++launches, correlations().empty() ? 0 : correlations().back()};
}

RuntimeCall::RuntimeCall(const char* name, Launch launch) : name_(name), launch_(launch) {
  if (launch_.id && recorder().on) start_ns_ = profile_ns();
}
RuntimeCall::~RuntimeCall() {
  if (!start_ns_) return;
  record_activity({.name = name_,
                   .kind = ActivityKind::runtime,
                   .start_ns = start_ns_,
                   .end_ns = profile_ns(),
                   .launch = launch_,
                   .device = getpid(),
                   .resource = syscall(SYS_gettid)});
}

}  // namespace assay_simulated
