// SPDX-License-Identifier: Apache-2.0
#include "profiler.h"

// clang-format off
#include <kineto/libkineto.h>
// clang-format on
#include <kineto/output_base.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "queue.h"

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
    for (c10::DeviceIndex device = 0; device < device_count(); ++device) {
      if (!poisoned()) synchronize_quietly(device);
    }
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
    using libkineto::ActivityType;
    buffer_ = std::make_unique<libkineto::CpuTraceBuffer>();
    buffer_->span = libkineto::TraceSpan(0, 0, "simulated ROCm device");
    auto& shared = recorder();
    const std::lock_guard lock(shared.mutex);
    for (const auto& activity : shared.activities) {
      auto entry = std::make_unique<libkineto::GenericTraceActivity>(
          buffer_->span, activity.copy ? ActivityType::GPU_MEMCPY : ActivityType::CONCURRENT_KERNEL,
          activity.name);
      entry->startTime = activity.start_ns;
      entry->endTime = activity.end_ns;
      entry->id = static_cast<int32_t>(activity.correlation);
      entry->device = activity.device;
      entry->resource = static_cast<int32_t>(activity.stream);
      entry->linked = linked(static_cast<int32_t>(activity.correlation));
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
  static void synchronize_quietly(c10::DeviceIndex device) {
    try {
      synchronize_device(device);
    } catch (const std::exception&) {
      // The device's error belongs to the next call on the device, not to the profiler.
    }
  }
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
                                              libkineto::ActivityType::GPU_MEMCPY};
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
  if (!shared.on) return;
  const std::lock_guard lock(shared.mutex);
  shared.activities.push_back(std::move(activity));
}

uint64_t current_correlation() { return correlations().empty() ? 0 : correlations().back(); }

}  // namespace assay_simulated
