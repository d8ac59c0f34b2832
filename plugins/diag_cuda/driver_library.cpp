// SPDX-License-Identifier: Apache-2.0
#include "diag_cuda/driver_library.hpp"

#include "common/platform.hpp"

#include <array>

namespace diag_cuda {
namespace {

// Of NVIDIA's documented interface, which does not change: results are 0 when all went well.
using take_int = int(int*);
using start_driver = int(unsigned);
using get_device = int(int*, int);
using get_attribute = int(int*, int, int);
using plain = int();
using count_devices = int(unsigned*);
using get_handle = int(unsigned, void**);
using get_mode = int(void*, int*);

constexpr int capability_major = 75;
constexpr int capability_minor = 76;
constexpr int most_gpus = 64;

probing::library open_first(const std::array<const char*, 2>& names) {
  return probing::library(probing::is_windows || probing::library(names[0]).opened() ? names[0]
                                                                                     : names[1]);
}

}  // namespace

driver_library ask_driver_library(bool start) {
  const auto cuda = probing::is_windows
                        ? open_first({"nvcuda.dll", "nvcuda.dll"})
                        : open_first({"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"});
  driver_library found{.opened = cuda.opened(), .why_not = cuda.why_not()};
  if (!cuda.opened()) {
    return found;
  }
  if (auto* version = cuda.find<take_int>("cuDriverGetVersion")) {
    version(&found.cuda_version);
  }
  auto* initialise = cuda.find<start_driver>("cuInit");
  auto* count = cuda.find<take_int>("cuDeviceGetCount");
  auto* device_at = cuda.find<get_device>("cuDeviceGet");
  auto* attribute = cuda.find<get_attribute>("cuDeviceGetAttribute");
  if (!start || initialise == nullptr || count == nullptr || device_at == nullptr ||
      attribute == nullptr) {
    return found;
  }
  found.start_error = initialise(0);
  int devices = 0;
  if (found.start_error != 0 || count(&devices) != 0) {
    return found;
  }
  for (int i = 0; i < devices && i < most_gpus; ++i) {
    int device = 0;
    int major = 0;
    int minor = 0;
    if (device_at(&device, i) == 0 && attribute(&major, capability_major, device) == 0 &&
        attribute(&minor, capability_minor, device) == 0) {
      found.capabilities.push_back(major * 10 + minor);
    }
  }
  return found;
}

management_library ask_management_library() {
  const auto nvml = probing::is_windows
                        ? open_first({"nvml.dll", "nvml.dll"})
                        : open_first({"libnvidia-ml.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1"});
  management_library found{.opened = nvml.opened(), .why_not = nvml.why_not()};
  auto* initialise = nvml.find<plain>("nvmlInit_v2");
  auto* count = nvml.find<count_devices>("nvmlDeviceGetCount_v2");
  auto* handle_of = nvml.find<get_handle>("nvmlDeviceGetHandleByIndex_v2");
  auto* persistence = nvml.find<get_mode>("nvmlDeviceGetPersistenceMode");
  if (initialise == nullptr || count == nullptr || handle_of == nullptr || persistence == nullptr) {
    return found;
  }
  unsigned devices = 0;
  if (const int error = initialise(); error != 0 || count(&devices) != 0) {
    found.why_not = "NVML answers error " + std::to_string(error);
    return found;
  }
  for (unsigned i = 0; i < devices && i < most_gpus; ++i) {
    void* device = nullptr;
    int mode = 0;
    if (handle_of(i, &device) == 0 && persistence(device, &mode) == 0) {
      found.persistent.push_back(mode != 0);
    }
  }
  return found;
}

}  // namespace diag_cuda
