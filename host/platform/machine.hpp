// SPDX-License-Identifier: Apache-2.0
//
// What a machine says of itself without a library being asked. "" and an empty optional: it could
// not be read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay::platform {

struct machine_facts {
  std::string os;         // "Debian GNU/Linux 12 (bookworm)"
  std::string kernel;     // "6.12.1-amd64"
  std::string c_library;  // "glibc 2.36"
  std::string cpu;        // "AMD EPYC 9554 64-Core Processor"
  std::optional<unsigned> processors;
  std::optional<std::uint64_t> memory_bytes;
};

/// A loaded GPU driver. One that is part of the kernel has the kernel's version and none of its
/// own.
struct gpu_driver {
  std::string name, version;  // "amdgpu", "6.10.5"
};

/// What a device does at this moment, and its limits, which an administrator can move.
struct device_clocks {
  std::optional<double> clock_mhz, clock_max_mhz, memory_clock_mhz, memory_clock_max_mhz;
  std::optional<double> power_w, power_cap_w, temperature_c;
  /// "power", "current", "temperature", "other": what holds it back now; empty: nothing does.
  std::optional<std::vector<std::string>> throttled;
  std::string governor;                         // of a CPU: "performance"
  std::optional<std::uint64_t> throttle_count;  // of a CPU: times since it was started
};

struct graphics_card {
  std::string pci;     // "0000:03:00.0"
  std::string driver;  // "amdgpu"
  std::optional<std::uint64_t> memory_bytes;
  device_clocks clocks;
};

/// `root`: the file system to read (Linux).
[[nodiscard]] machine_facts look_at_machine(const std::filesystem::path& root = "/");
[[nodiscard]] std::vector<gpu_driver> gpu_drivers(const std::filesystem::path& root = "/");
[[nodiscard]] std::vector<graphics_card> graphics_cards(const std::filesystem::path& root = "/");
[[nodiscard]] device_clocks cpu_clocks(const std::filesystem::path& root = "/");

/// What tells this machine from all others, as far as this user may read it: the installation's id,
/// serial numbers of board and GPUs, network addresses. To be kept out of what is shown.
[[nodiscard]] std::vector<std::string> serial_numbers(const std::filesystem::path& root = "/");

}  // namespace assay::platform
