// SPDX-License-Identifier: Apache-2.0
//
// The registry tells what there is; clocks, power and throttling are for a vendor's library.
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>

#include <array>
#include <string_view>

#include "host/platform/machine.hpp"

namespace assay::platform {

namespace {

constexpr const char* windows_key = R"(SOFTWARE\Microsoft\Windows NT\CurrentVersion)";
constexpr const char* processor_key = R"(HARDWARE\DESCRIPTION\System\CentralProcessor\0)";
constexpr const char* display_key =
    R"(SYSTEM\CurrentControlSet\Control\Class\{4d36e968-e325-11ce-bfc1-08002be10318})";

std::string registry_text(const std::string& key, const char* name) {
  std::array<char, 512> text{};
  auto size = static_cast<DWORD>(text.size() - 1);
  if (::RegGetValueA(HKEY_LOCAL_MACHINE, key.c_str(), name, RRF_RT_REG_SZ, nullptr, text.data(),
                     &size) != ERROR_SUCCESS) {
    return "";
  }
  std::string found = text.data();
  found.resize(found.find_last_not_of(' ') + 1);
  return found;
}

}  // namespace

machine_facts look_at_machine(const std::filesystem::path& /*root*/) {
  machine_facts found;
  found.os = registry_text(windows_key, "ProductName");
  const std::string shown = registry_text(windows_key, "DisplayVersion");
  found.os += found.os.empty() || shown.empty() ? "" : " " + shown;
  found.kernel = registry_text(windows_key, "CurrentBuildNumber");
  found.cpu = registry_text(processor_key, "ProcessorNameString");
  if (const DWORD count = ::GetActiveProcessorCount(ALL_PROCESSOR_GROUPS); count > 0) {
    found.processors = count;
  }
  MEMORYSTATUSEX status{};
  status.dwLength = sizeof status;
  if (::GlobalMemoryStatusEx(&status) != 0) {
    found.memory_bytes = status.ullTotalPhys;
  }
  return found;
}

std::vector<gpu_driver> gpu_drivers(const std::filesystem::path& /*root*/) {
  std::vector<gpu_driver> found;
  for (const char* ordinal : {"0000", "0001", "0002", "0003", "0004", "0005", "0006", "0007"}) {
    const std::string key = std::string(display_key) + "\\" + ordinal;
    std::string name = registry_text(key, "DriverDesc");
    if (!name.empty()) {
      found.push_back({std::move(name), registry_text(key, "DriverVersion")});
    }
  }
  return found;
}

std::vector<graphics_card> graphics_cards(const std::filesystem::path& /*root*/) { return {}; }

device_clocks cpu_clocks(const std::filesystem::path& /*root*/) { return {}; }

std::vector<std::string> serial_numbers(const std::filesystem::path& /*root*/) {
  const std::string id = registry_text(R"(SOFTWARE\Microsoft\Cryptography)", "MachineGuid");
  return id.empty() ? std::vector<std::string>{} : std::vector{id};
}

}  // namespace assay::platform
