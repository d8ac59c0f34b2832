// SPDX-License-Identifier: Apache-2.0
#include "nvidia_management.hpp"

#include <array>
#include <boost/dll/shared_library.hpp>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace assay::worker {

namespace {

namespace dll = boost::dll;
using nlohmann::json;

// Of NVML's documented interface, which keeps its ABI: results are 0 when all went well.
struct bus_place {
  std::array<char, 16> legacy;
  unsigned domain, bus, device;
  std::array<char, 256> rest;  // ids, and room for what later versions add
};
using plain_call = int();
using ask_count = int(unsigned*);
using ask_text = int(char*, unsigned);
using ask_handle = int(unsigned, void**);
using ask_place = int(void*, bus_place*);
using ask_number = int(void*, unsigned*);
using ask_of_kind = int(void*, unsigned, unsigned*);
using ask_bits = int(void*, unsigned long long*);

constexpr unsigned streaming_clock = 1;
constexpr unsigned memory_clock = 2;
constexpr unsigned most_gpus = 64;

struct slowdown_reason {
  unsigned long long bit;
  const char* name;
};
// An idle GPU (bit 0) is not held back.
constexpr std::array slowdown_reasons{
    slowdown_reason{0x002, "applications clocks"}, slowdown_reason{0x004, "software power cap"},
    slowdown_reason{0x008, "hardware slowdown"},   slowdown_reason{0x010, "sync boost"},
    slowdown_reason{0x020, "software thermal"},    slowdown_reason{0x040, "hardware thermal"},
    slowdown_reason{0x080, "power brake"},         slowdown_reason{0x100, "display clock"}};

template <typename Function>
Function* find_in(const dll::shared_library& library, const char* name) {
  return library.is_loaded() && library.has(name) ? &library.get<Function>(name) : nullptr;
}

class nvidia_library {
 public:
  nvidia_library() {
    dll::fs::error_code error;
#if defined(_WIN32)
    library_.load("nvml.dll", error, dll::load_mode::search_system_folders);
#else
    for (const char* name : {"libnvidia-ml.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1"}) {
      if (!library_.is_loaded()) {
        library_.load(name, error, dll::load_mode::search_system_folders);
      }
    }
#endif
  }

  json clocks() const {
    json record{{"why", ""}, {"driver", nullptr}, {"cards", json::array()}};
    auto* start = find_in<plain_call>(library_, "nvmlInit_v2");
    auto* count = find_in<ask_count>(library_, "nvmlDeviceGetCount_v2");
    auto* handle = find_in<ask_handle>(library_, "nvmlDeviceGetHandleByIndex_v2");
    if (start == nullptr || count == nullptr || handle == nullptr) {
      record["why"] = "NVIDIA's management library does not open";
      return record;
    }
    unsigned gpus = 0;
    if (const int error = start(); error != 0) {
      record["why"] = "NVIDIA's management library answers error " + std::to_string(error);
      return record;
    }
    std::array<char, 96> version{};
    auto* driver = find_in<ask_text>(library_, "nvmlSystemGetDriverVersion");
    if (driver != nullptr &&
        driver(version.data(), static_cast<unsigned>(version.size() - 1)) == 0) {
      record["driver"] = version.data();
    }
    count(&gpus);
    for (unsigned i = 0; i < gpus && i < most_gpus; ++i) {
      void* device = nullptr;
      if (handle(i, &device) == 0) {
        record["cards"].push_back(card_of(device));
      }
    }
    if (auto* end = find_in<plain_call>(library_, "nvmlShutdown"); end != nullptr) {
      end();
    }
    return record;
  }

 private:
  json card_of(void* device) const {
    constexpr double milli = 1e3;
    return {{"pci", place(device)},
            {"clock_mhz", of_kind("nvmlDeviceGetClockInfo", device, streaming_clock)},
            {"clock_max_mhz", of_kind("nvmlDeviceGetMaxClockInfo", device, streaming_clock)},
            {"memory_clock_mhz", of_kind("nvmlDeviceGetClockInfo", device, memory_clock)},
            {"memory_clock_max_mhz", of_kind("nvmlDeviceGetMaxClockInfo", device, memory_clock)},
            {"power_w", number("nvmlDeviceGetPowerUsage", device, milli)},
            {"power_cap_w", number("nvmlDeviceGetEnforcedPowerLimit", device, milli)},
            {"temperature_c", of_kind("nvmlDeviceGetTemperature", device, 0)},
            {"throttled", throttled(device)}};
  }

  json place(void* device) const {
    bus_place found{};
    auto* ask = find_in<ask_place>(library_, "nvmlDeviceGetPciInfo_v3");
    if (ask == nullptr || ask(device, &found) != 0) {
      return nullptr;
    }
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%04x:%02x:%02x.0", found.domain, found.bus,
                  found.device);
    return text.data();
  }

  json of_kind(const char* name, void* device, unsigned kind) const {
    auto* ask = find_in<ask_of_kind>(library_, name);
    unsigned value = 0;
    return ask != nullptr && ask(device, kind, &value) == 0 ? json(value) : json();
  }

  json number(const char* name, void* device, double unit) const {
    auto* ask = find_in<ask_number>(library_, name);
    unsigned value = 0;
    return ask != nullptr && ask(device, &value) == 0 ? json(value / unit) : json();
  }

  json throttled(void* device) const {
    auto* ask = find_in<ask_bits>(library_, "nvmlDeviceGetCurrentClocksThrottleReasons");
    unsigned long long bits = 0;
    if (ask == nullptr || ask(device, &bits) != 0) {
      return nullptr;
    }
    json names = json::array();
    for (const slowdown_reason& one : slowdown_reasons) {
      if ((bits & one.bit) != 0) {
        names.push_back(one.name);
      }
    }
    return names;
  }

  dll::shared_library library_;
};

}  // namespace

json nvidia_clocks() {
  try {
    return nvidia_library().clocks();
  } catch (const std::exception& error) {
    return {{"why", error.what()}, {"driver", nullptr}, {"cards", json::array()}};
  }
}

}  // namespace assay::worker
