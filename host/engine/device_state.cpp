// SPDX-License-Identifier: Apache-2.0
#include "device_state.hpp"

#include <ATen/ops/ones.h>
#include <c10/core/DeviceGuard.h>
#include <c10/util/Exception.h>

#include <boost/dll/shared_library.hpp>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "device_info.hpp"
#include "dtypes.hpp"

namespace assay::engine {

namespace {

namespace dll = boost::dll;
using nlohmann::json;

using memory_info = int(std::size_t* free, std::size_t* total);

json free_bytes(const dll::shared_library& library, const char* name) {
  std::size_t free = 0;
  std::size_t total = 0;
  if (!library.is_loaded() || !library.has(name) ||
      library.get<memory_info>(name)(&free, &total) != 0) {
    return nullptr;
  }
  return free;
}

// HIP's own call through the library that LibTorch's GPU part brought along; CUDA's driver.
json free_memory(const char* backend_library, const c10::Device& device) {
  boost::dll::fs::error_code error;
  const c10::DeviceGuard guard(device);
  at::ones({1}, at::device(device));  // the driver answers for a device that is in use
  if (std::string(build_kind()) == "rocm") {
    const dll::shared_library backend(backend_library, dll::load_mode::rtld_lazy, error);
    return free_bytes(backend, "hipMemGetInfo");
  }
#if defined(_WIN32)
  const dll::shared_library driver("nvcuda.dll", dll::load_mode::search_system_folders, error);
#else
  const dll::shared_library driver("libcuda.so.1", dll::load_mode::search_system_folders, error);
#endif
  return free_bytes(driver, "cuMemGetInfo_v2");
}

}  // namespace

json device_state(const char* backend_library, const char* device, std::int32_t dtype) {
  json state{{"free_bytes", nullptr}, {"adds", nullptr}, {"why", ""}};
  try {
    const c10::Device wanted(device);
    if (dtype == 0) {
      if (backend_library != nullptr && !wanted.is_cpu()) {
        state["free_bytes"] = free_memory(backend_library, wanted);
      }
      return state;
    }
    const at::Tensor one = at::ones({1}, at::device(wanted).dtype(scalar_type(dtype)));
    static_cast<void>(one.add(one).cpu());  // which waits for the device
    state["adds"] = true;
  } catch (const c10::Error& e) {
    const std::string text = e.what_without_backtrace();
    state["why"] = text.substr(0, text.find('\n'));
    state["adds"] = dtype == 0 ? json() : json(false);
  } catch (const std::exception& e) {
    state["why"] = e.what();
  } catch (...) {
    state["why"] = "LibTorch threw something that is no std::exception";
  }
  return state;
}

}  // namespace assay::engine
