// SPDX-License-Identifier: Apache-2.0
#include "evidence/device_profile.hpp"

#include <ATen/ops/empty.h>
#include <ATen/record_function.h>
#include <kineto/ActivityType.h>
#include <torch/csrc/autograd/profiler_kineto.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace assay::engine {

namespace {

namespace profiler = torch::autograd::profiler;
using libkineto::ActivityType;
using event_list = std::vector<profiler::KinetoEvent>;

constexpr int profiled_calls = 3;
// Marks and the runtime's calls are stamped by clocks that differ by some microseconds. Pauses
// around each call keep assay's own waits for the device apart from those that the call makes.
constexpr double pause_us = 40.0;
constexpr std::uint64_t clock_skew_ns = 20'000;
constexpr const char* call_mark = "assay call";

ActivityType type_of(const profiler::KinetoEvent& event) {
  return static_cast<ActivityType>(event.activityType());
}

bool is_device_work(const profiler::KinetoEvent& event) {
  const ActivityType type = type_of(event);
  return event.deviceType() != c10::DeviceType::CPU &&
         (type == ActivityType::CONCURRENT_KERNEL || type == ActivityType::GPU_MEMCPY ||
          type == ActivityType::GPU_MEMSET);
}

std::unique_ptr<profiler::ProfilerResult> record(const std::function<void()>& body, bool device) {
  namespace impl = torch::profiler::impl;
  std::set<impl::ActivityType> types{impl::ActivityType::CPU};
  if (device) {
    types.insert(impl::ActivityType::CUDA);
  }
  const impl::ProfilerConfig config(impl::ProfilerState::KINETO, false, false, false, false, false);
  profiler::prepareProfiler(config, types);
  profiler::enableProfiler(config, types);
  try {
    body();
  } catch (...) {
    profiler::disableProfiler();
    throw;
  }
  return profiler::disableProfiler();
}

struct span {
  std::uint64_t begin, end;  // ns
};

// Not asleep: sleeping takes as long as the system likes.
void pause() {
  const auto begin = host_clock::now();
  while (us_between(begin, host_clock::now()) < pause_us) {
  }
}

// Length of the union.
double covered_us(std::vector<span> spans) {
  std::sort(spans.begin(), spans.end(),
            [](const span& a, const span& b) { return a.begin < b.begin; });
  std::uint64_t covered = 0;
  std::uint64_t reached = 0;
  for (const span& s : spans) {
    const std::uint64_t begin = std::max(s.begin, reached);
    if (s.end > begin) {
      covered += s.end - begin;
      reached = s.end;
    }
  }
  return static_cast<double>(covered) / 1e3;
}

// "Memcpy HtoD (Pageable -> Device)" in CUDA's words, "CopyHostToDevice" in HIP's.
std::string copy_kind(const std::string& name) {
  for (const auto& [word, kind] :
       {std::pair("HtoD", "HtoD"), std::pair("HostToDevice", "HtoD"), std::pair("DtoH", "DtoH"),
        std::pair("DeviceToHost", "DtoH"), std::pair("DtoD", "DtoD"),
        std::pair("DeviceToDevice", "DtoD")}) {
    if (name.find(word) != std::string::npos) {
      return kind;
    }
  }
  return "other";
}

// Kineto tells a copy's bytes in its own trace alone.
void add_copied_bytes(device_profile& profile, const std::filesystem::path& file, double from_us) {
  std::ifstream in(file);
  const auto whole = nlohmann::json::parse(in, nullptr, false);
  if (!whole.is_object() || !whole.contains("traceEvents")) {
    return;
  }
  const double base_us = whole.value("baseTimeNanoseconds", 0.0) / 1e3;
  for (const auto& event : whole["traceEvents"]) {
    if (event.value("cat", "") != "gpu_memcpy" || !event.contains("args") ||
        !event["args"].contains("bytes") || base_us + event.value("ts", 0.0) < from_us) {
      continue;
    }
    const auto& bytes = event["args"]["bytes"];
    auto& copy = profile.copies[copy_kind(event.value("name", ""))];
    copy.bytes = copy.bytes.value_or(0.0) +
                 (bytes.is_string() ? std::stod(bytes.get<std::string>()) : bytes.get<double>()) /
                     profile.calls;
  }
}

// The profiler saves its trace once: to the file that is wanted, or to one that is read and
// removed.
void save_trace(device_profile& profile, profiler::ProfilerResult& trace, const std::string& wanted,
                double from_us) {
  namespace fs = std::filesystem;
  const bool host_copies = profile.copies.contains("HtoD") || profile.copies.contains("DtoH");
  if (wanted.empty() && !host_copies) {
    return;
  }
  std::error_code error;
  const fs::path file =
      wanted.empty() ? fs::temp_directory_path() /
                           ("assay-trace-" + std::to_string(trace.trace_start_ns()) + ".json")
                     : fs::path(wanted);
  trace.save(file.string());
  if (host_copies) {
    add_copied_bytes(profile, file, from_us);
  }
  if (wanted.empty()) {
    fs::remove(file, error);
  } else if (fs::exists(file, error)) {  // the profiler is silent about one that it cannot write
    profile.trace_file = wanted;
  }
}

void add_work(device_profile& profile, const event_list& events, std::uint64_t from_ns) {
  std::map<std::string, device_profile::kernel> kernels;
  for (const profiler::KinetoEvent& event : events) {
    if (!is_device_work(event) || event.startNs() < from_ns) {
      continue;
    }
    const double us = static_cast<double>(event.durationNs()) / 1e3 / profile.calls;
    if (type_of(event) == ActivityType::CONCURRENT_KERNEL) {
      auto& kernel = kernels[event.name()];
      kernel.count += 1.0;
      kernel.us += us;
      profile.kernel_us += us;
      profile.kernel_count += 1.0;
    } else if (type_of(event) == ActivityType::GPU_MEMSET) {
      profile.memset_us += us;
    } else {
      auto& copy = profile.copies[copy_kind(event.name())];
      copy.count += 1.0;
      copy.us += us;
    }
  }
  profile.kernel_count /= profile.calls;
  for (auto& [kind, copy] : profile.copies) {
    copy.count /= profile.calls;
  }
  for (auto& [name, kernel] : kernels) {
    kernel.count /= profile.calls;
    kernel.name = name;
    profile.kernels.push_back(std::move(kernel));
  }
  std::sort(profile.kernels.begin(), profile.kernels.end(),
            [](const auto& a, const auto& b) { return a.us > b.us; });
}

// Calls of the runtime that return only when the device is done; HIP reads scalars by
// hipMemcpyWithStream.
bool waits_for_device(const std::string& name) {
  return name.find("Synchronize") != std::string::npos || name == "hipMemcpyWithStream" ||
         name == "hipMemcpy" || name == "cudaMemcpy";
}

// The profiled calls, in order; the first one, which pays for the tracer's own start, left out.
std::vector<span> calls_in(const event_list& events) {
  std::vector<span> calls;
  for (const profiler::KinetoEvent& event : events) {
    if (event.deviceType() == c10::DeviceType::CPU && event.name() == call_mark) {
      calls.push_back({event.startNs(), event.startNs() + event.durationNs()});
    }
  }
  std::sort(calls.begin(), calls.end(),
            [](const span& a, const span& b) { return a.begin < b.begin; });
  if (!calls.empty()) {
    calls.erase(calls.begin());
  }
  return calls;
}

// Every call was synchronised, so what the device did after one call's begin and before the next
// one's belongs to it.
void add_split(device_profile& profile, const event_list& events, const std::vector<span>& calls) {
  bool runtime_seen = false;
  double syncs = 0.0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::uint64_t next =
        i + 1 < calls.size() ? calls[i + 1].begin : std::numeric_limits<std::uint64_t>::max();
    std::vector<span> work, copies, all;
    std::uint64_t end = calls[i].end;
    for (const profiler::KinetoEvent& event : events) {
      const span when{event.startNs(), event.startNs() + event.durationNs()};
      if (when.begin < calls[i].begin || when.begin >= next) {
        continue;
      }
      if (is_device_work(event)) {
        const bool host_copy =
            type_of(event) == ActivityType::GPU_MEMCPY && copy_kind(event.name()) != "DtoD";
        (host_copy ? copies : work).push_back(when);
        all.push_back(when);
        end = std::max(end, when.end);
      } else if (type_of(event) == ActivityType::CUDA_RUNTIME ||
                 type_of(event) == ActivityType::CUDA_DRIVER) {
        runtime_seen = true;
        const bool own = when.begin >= calls[i].end + clock_skew_ns;
        syncs += !own && waits_for_device(event.name()) ? 1.0 : 0.0;
      }
    }
    const double one = 1.0 / static_cast<double>(calls.size());
    const double call_us = static_cast<double>(end - calls[i].begin) / 1e3;
    profile.call_us += call_us * one;
    profile.dispatch_us += static_cast<double>(calls[i].end - calls[i].begin) / 1e3 * one;
    profile.busy_us += covered_us(work) * one;
    profile.copy_us += covered_us(copies) * one;
    profile.idle_us += std::max(0.0, call_us - covered_us(all)) * one;
  }
  if (runtime_seen) {
    profile.syncs = syncs / static_cast<double>(calls.size());
  }
}

}  // namespace

bool profiler_sees(const c10::Device& device) {
  static std::map<c10::DeviceType, bool> known;
  const auto [entry, added] = known.try_emplace(device.type(), false);
  if (added) {
    const auto trace = record(
        [&] {
          at::empty({1024}, at::device(device).dtype(at::kFloat)).fill_(1.0);
          clock_of(device).synchronize();
        },
        true);
    entry->second = std::any_of(trace->events().begin(), trace->events().end(), is_device_work);
  }
  return entry->second;
}

device_profile profile_calls(bound_plan& plan, const c10::Device& device,
                             const std::string& trace_file) {
  device_profile profile;
  const bool on_device = !device.is_cpu();
  if (!on_device && trace_file.empty()) {
    profile.why = "the CPU has no device kernels";
    return profile;
  }
  const device_clock& clock = clock_of(device);
  if (on_device && !profiler_sees(device)) {
    profile.why =
        "LibTorch's profiler sees no kernels of this device: its tracer is switched off, "
        "missing or lacks permission";
  }
  clock.synchronize();
  const auto trace = record(
      [&] {
        for (int i = 0; i <= profiled_calls; ++i) {
          {
            RECORD_USER_SCOPE(call_mark);
            plan.run();
          }
          pause();
          clock.synchronize();
          pause();
        }
      },
      on_device);
  const std::vector<span> calls = calls_in(trace->events());
  if (calls.size() != profiled_calls) {
    profile.why = "LibTorch's profiler lost some of its own marks";
    return profile;
  }
  profile.calls = profiled_calls;
  if (on_device && profile.why.empty()) {
    profile.seen = true;
    add_work(profile, trace->events(), calls.front().begin);
  } else if (profile.why.empty()) {
    profile.why = "the CPU has no device kernels";
  }
  add_split(profile, trace->events(), calls);
  save_trace(profile, *trace, trace_file, static_cast<double>(calls.front().begin) / 1e3);
  return profile;
}

}  // namespace assay::engine
