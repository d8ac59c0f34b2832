// SPDX-License-Identifier: Apache-2.0
#include "device_info.hpp"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <array>
#include <boost/dll/shared_library.hpp>
#include <cctype>
#include <cstddef>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#if defined(_M_X64)
#include <intrin.h>
#elif defined(__x86_64__)
#include <cpuid.h>
#endif

namespace assay::engine {

namespace {

namespace dll = boost::dll;
using nlohmann::json;

template <typename Function>
Function* find(const dll::shared_library& library, const char* name) {
  return library.is_loaded() && library.has(name) ? &library.get<Function>(name) : nullptr;
}

// The architecture stands as text ("gfx1032:sramecc+") somewhere in HIP's properties structure,
// whose layout differs from release to release; the text does not.
json hip_architecture(const dll::shared_library& library, int device) {
  auto* properties = find<int(void*, int)>(library, "hipGetDevicePropertiesR0600");
  if (properties == nullptr) {
    properties = find<int(void*, int)>(library, "hipGetDeviceProperties");
  }
  alignas(16) std::array<char, 8192> buffer{};
  if (properties == nullptr || properties(buffer.data(), device) != 0) {
    return nullptr;
  }
  const std::string_view bytes(buffer.data() + 256, buffer.size() - 512);  // behind the name
  const auto at = bytes.find("gfx");
  if (at == std::string_view::npos) {
    return nullptr;
  }
  return std::string(bytes.data() + at);
}

using get_address = int(char*, int, int);
using get_bytes = int(std::size_t*, int);

/// "0000:01:00.0", by which a device is found among the system's own.
json pci_address(get_address* ask, int device) {
  std::array<char, 64> text{};
  if (ask == nullptr || ask(text.data(), static_cast<int>(text.size()) - 1, device) != 0) {
    return nullptr;
  }
  std::string address = text.data();
  std::transform(address.begin(), address.end(), address.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return address;
}

json total_memory(get_bytes* ask, int device) {
  std::size_t bytes = 0;
  return ask != nullptr && ask(&bytes, device) == 0 ? json(bytes) : json();
}

json hip_device(const dll::shared_library& library, int device) {
  std::array<char, 256> name{};
  auto* get_name = find<int(char*, int, int)>(library, "hipDeviceGetName");
  const bool named =
      get_name != nullptr && get_name(name.data(), static_cast<int>(name.size()) - 1, device) == 0;
  return {{"name", named ? json(name.data()) : json()},
          {"architecture", hip_architecture(library, device)},
          {"pci", pci_address(find<get_address>(library, "hipDeviceGetPCIBusId"), device)},
          {"memory_bytes", total_memory(find<get_bytes>(library, "hipDeviceTotalMem"), device)}};
}

json cuda_device(int device) {
  // The driver's interface keeps its ABI, the runtime's structures do not.
  constexpr int major_attribute = 75;
  constexpr int minor_attribute = 76;
  boost::dll::fs::error_code error;
#if defined(_WIN32)
  const dll::shared_library driver("nvcuda.dll", dll::load_mode::search_system_folders, error);
#else
  const dll::shared_library driver("libcuda.so.1", dll::load_mode::search_system_folders, error);
#endif
  json found{
      {"name", nullptr},
      {"architecture", nullptr},
      {"pci", pci_address(find<get_address>(driver, "cuDeviceGetPCIBusId"), device)},
      {"memory_bytes", total_memory(find<get_bytes>(driver, "cuDeviceTotalMem_v2"), device)}};
  auto* get_name = find<int(char*, int, int)>(driver, "cuDeviceGetName");
  auto* attribute = find<int(int*, int, int)>(driver, "cuDeviceGetAttribute");
  std::array<char, 256> name{};
  if (get_name != nullptr &&
      get_name(name.data(), static_cast<int>(name.size()) - 1, device) == 0) {
    found["name"] = name.data();
  }
  int major = 0;
  int minor = 0;
  if (attribute != nullptr && attribute(&major, major_attribute, device) == 0 &&
      attribute(&minor, minor_attribute, device) == 0) {
    found["architecture"] = "sm_" + std::to_string(major) + std::to_string(minor);
  }
  return found;
}

// The processor's own text; "" where there is no instruction that gives it.
std::string cpu_model() {
  std::string text;
#if defined(__x86_64__) || defined(_M_X64)
  constexpr unsigned first = 0x80000002U;
  constexpr unsigned last = 0x80000004U;
  for (unsigned leaf = first; leaf <= last; ++leaf) {
    std::array<unsigned, 4> part{};
#if defined(_MSC_VER)
    __cpuid(reinterpret_cast<int*>(part.data()), static_cast<int>(leaf));
#else
    if (__get_cpuid(leaf, &part[0], &part[1], &part[2], &part[3]) == 0) {
      return "";
    }
#endif
    std::array<char, sizeof(part)> letters{};
    std::memcpy(letters.data(), part.data(), sizeof(part));
    text.append(letters.data(), letters.size());
  }
  text.resize(std::min(text.find('\0'), text.size()));
  text.erase(0, text.find_first_not_of(' '));
  text.resize(text.find_last_not_of(' ') + 1);
#endif
  return text;
}

std::string cpu_name() {
  const std::string model = cpu_model();
  return (model.empty() ? "" : model + ", ") + std::to_string(at::get_num_threads()) + " threads";
}

}  // namespace

const char* build_kind() {
  if (at::Context::hasROCM()) {
    return "rocm";
  }
  return at::Context::hasCUDA() ? "cuda" : "cpu";
}

json list_devices(const char* backend_library) {
  json devices = json::array();
  devices.push_back(
      {{"device", "cpu"}, {"name", cpu_name()}, {"architecture", at::get_cpu_capability()}});
  const std::string build = build_kind();
  if (build == "cpu" || backend_library == nullptr) {
    return devices;
  }
  boost::dll::fs::error_code error;
  const dll::shared_library backend(backend_library, dll::load_mode::rtld_lazy, error);
  const auto count = at::detail::getCUDAHooks().deviceCount();
  for (int i = 0; i < count; ++i) {
    json device = build == "rocm" ? hip_device(backend, i) : cuda_device(i);
    device["device"] = "cuda:" + std::to_string(i);
    devices.push_back(std::move(device));
  }
  return devices;
}

}  // namespace assay::engine
