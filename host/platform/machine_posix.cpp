// SPDX-License-Identifier: Apache-2.0
#include "host/platform/machine.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <fstream>
#include <map>
#include <string_view>

#if defined(__GLIBC__)
#include <gnu/libc-version.h>
#endif

namespace assay::platform {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_file = 1U << 20U;

std::string text_of_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string text(longest_file, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
  return text;
}

std::string_view without_blanks(std::string_view text) {
  const auto is_blank = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && is_blank(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && is_blank(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

std::string line_of_file(const fs::path& file) {
  const std::string text = text_of_file(file);
  return std::string(without_blanks(std::string_view(text).substr(0, text.find('\n'))));
}

std::optional<double> leading_number(std::string_view text) {
  double number = 0.0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() ? std::optional(number) : std::nullopt;
}

std::optional<double> scaled(const fs::path& file, double unit) {
  const auto number = leading_number(line_of_file(file));
  return number ? std::optional(*number / unit) : std::nullopt;
}

std::optional<std::uint64_t> count_in(const fs::path& file) {
  const auto number = leading_number(line_of_file(file));
  return number && *number >= 0.0 ? std::optional(static_cast<std::uint64_t>(*number))
                                  : std::nullopt;
}

/// What stands behind a key: "model name : X", "PRETTY_NAME="X"".
std::string value_behind(std::string_view text, std::string_view key, char separator) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto at = line.find(separator);
    if (at == std::string_view::npos || without_blanks(line.substr(0, at)) != key) {
      continue;
    }
    std::string_view value = without_blanks(line.substr(at + 1));
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
      value = value.substr(1, value.size() - 2);
    }
    return std::string(value);
  }
  return "";
}

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (auto entry = fs::directory_iterator(folder, error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    found.push_back(entry->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

struct level_clocks {
  std::optional<double> now, highest;
};

/// "0: 500Mhz\n1: 2900Mhz *\n": the star marks the present level; "S:" is a sleeping clock.
level_clocks clocks_in(std::string_view text) {
  level_clocks found;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) {
      continue;
    }
    const auto clock = leading_number(without_blanks(line.substr(colon + 1)));
    if (!clock) {
      continue;
    }
    if (line.find('*') != std::string_view::npos) {
      found.now = clock;
    }
    if (line.front() != 'S') {
      found.highest = std::max(found.highest.value_or(0.0), *clock);
    }
  }
  return found;
}

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    number = (number << 8U) | static_cast<unsigned char>(bytes[i]);
  }
  return number;
}

/// The kernel's table gpu_metrics_v1_3 alone has reasons that mean the same on every GPU.
std::optional<std::vector<std::string>> reasons_in(const std::string& metrics) {
  constexpr std::size_t size = 120;
  constexpr std::size_t reasons_at = 112;
  constexpr std::uint64_t not_supported = ~std::uint64_t{0};
  if (metrics.size() < size || metrics[2] != 1 || metrics[3] != 3) {
    return std::nullopt;
  }
  const std::uint64_t bits = little_endian(std::string_view(metrics).substr(reasons_at, 8));
  if (bits == not_supported) {
    return std::nullopt;
  }
  struct reason_group {
    const char* name;
    unsigned first, last;
  };
  constexpr std::array groups{reason_group{"power", 0, 15}, reason_group{"current", 16, 31},
                              reason_group{"temperature", 32, 55}, reason_group{"other", 56, 63}};
  std::vector<std::string> reasons;
  for (const reason_group& one : groups) {
    for (unsigned bit = one.first; bit <= one.last; ++bit) {
      if (((bits >> bit) & 1U) != 0) {
        reasons.emplace_back(one.name);
        break;
      }
    }
  }
  return reasons;
}

device_clocks clocks_of_amd(const fs::path& device) {
  device_clocks clocks;
  const level_clocks core = clocks_in(text_of_file(device / "pp_dpm_sclk"));
  const level_clocks memory = clocks_in(text_of_file(device / "pp_dpm_mclk"));
  clocks.clock_mhz = core.now;
  clocks.clock_max_mhz = core.highest;
  clocks.memory_clock_mhz = memory.now;
  clocks.memory_clock_max_mhz = memory.highest;
  constexpr double micro = 1e6;
  constexpr double milli = 1e3;
  for (const fs::path& sensor : entries_of(device / "hwmon")) {
    clocks.power_cap_w = scaled(sensor / "power1_cap", micro);
    clocks.power_w = scaled(sensor / "power1_average", micro);
    if (!clocks.power_w) {
      clocks.power_w = scaled(sensor / "power1_input", micro);
    }
    clocks.temperature_c = scaled(sensor / "temp1_input", milli);
    break;
  }
  clocks.throttled = reasons_in(text_of_file(device / "gpu_metrics"));
  return clocks;
}

// "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build ..."
std::string version_of_nvidia(std::string_view line) {
  while (!line.empty()) {
    const std::string_view word = line.substr(0, line.find(' '));
    line.remove_prefix(std::min(word.size() + 1, line.size()));
    const bool is_version = word.find('.') != std::string_view::npos &&
                            word.find_first_not_of("0123456789.") == std::string_view::npos;
    if (is_version) {
      return std::string(word);
    }
  }
  return "";
}

}  // namespace

machine_facts look_at_machine(const fs::path& root) {
  machine_facts found;
  for (const char* file : {"etc/os-release", "usr/lib/os-release"}) {
    if (found.os.empty()) {
      found.os = value_behind(text_of_file(root / file), "PRETTY_NAME", '=');
    }
  }
  found.kernel = line_of_file(root / "proc/sys/kernel/osrelease");
#if defined(__GLIBC__)
  if (root == "/") {
    found.c_library = std::string("glibc ") + ::gnu_get_libc_version();
  }
#endif
  const std::string processors = text_of_file(root / "proc/cpuinfo");
  found.cpu = value_behind(processors, "model name", ':');
  unsigned count = 0;
  for (auto at = processors.find("processor"); at != std::string::npos;
       at = processors.find("processor", at + 1)) {
    count += at == 0 || processors[at - 1] == '\n' ? 1 : 0;
  }
  if (count > 0) {
    found.processors = count;
  }
  constexpr double kibibyte = 1024.0;
  if (const auto memory =
          leading_number(value_behind(text_of_file(root / "proc/meminfo"), "MemTotal", ':'))) {
    found.memory_bytes = static_cast<std::uint64_t>(*memory * kibibyte);
  }
  return found;
}

std::vector<gpu_driver> gpu_drivers(const fs::path& root) {
  std::vector<gpu_driver> found;
  std::error_code error;
  for (const char* name : {"amdgpu", "xe", "i915", "nouveau"}) {
    if (fs::is_directory(root / "sys/module" / name, error)) {
      found.push_back({name, line_of_file(root / "sys/module" / name / "version")});
    }
  }
  const std::string nvidia = line_of_file(root / "proc/driver/nvidia/version");
  if (!nvidia.empty()) {
    found.push_back({"nvidia", version_of_nvidia(nvidia)});
  }
  return found;
}

std::vector<graphics_card> graphics_cards(const fs::path& root) {
  std::vector<graphics_card> found;
  for (const fs::path& device : entries_of(root / "sys/bus/pci/devices")) {
    const std::string kind = line_of_file(device / "class");
    // 0x03: display; 0x12: processing accelerators, which server GPUs are.
    if (!kind.starts_with("0x03") && !kind.starts_with("0x12")) {
      continue;
    }
    std::error_code error;
    graphics_card card;
    card.pci = device.filename().string();
    card.driver = fs::read_symlink(device / "driver", error).filename().string();
    if (card.driver == "amdgpu") {
      card.memory_bytes = count_in(device / "mem_info_vram_total");
      card.clocks = clocks_of_amd(device);
    }
    found.push_back(std::move(card));
  }
  return found;
}

device_clocks cpu_clocks(const fs::path& root) {
  device_clocks clocks;
  constexpr double kilo = 1e3;
  for (const fs::path& cpu : entries_of(root / "sys/devices/system/cpu")) {
    const std::string name = cpu.filename().string();
    if (name.size() < 4 || !name.starts_with("cpu") ||
        name.find_first_not_of("0123456789", 3) != std::string::npos) {
      continue;
    }
    const auto now = scaled(cpu / "cpufreq/scaling_cur_freq", kilo);
    if (now && *now > clocks.clock_mhz.value_or(0.0)) {
      clocks.clock_mhz = now;
    }
    const auto most = scaled(cpu / "cpufreq/scaling_max_freq", kilo);
    if (most && *most > clocks.clock_max_mhz.value_or(0.0)) {
      clocks.clock_max_mhz = most;
    }
    if (clocks.governor.empty()) {
      clocks.governor = line_of_file(cpu / "cpufreq/scaling_governor");
    }
    // Each processor of a package has that package's count.
    if (const auto count = count_in(cpu / "thermal_throttle/package_throttle_count")) {
      clocks.throttle_count = std::max(clocks.throttle_count.value_or(0), *count);
    }
  }
  return clocks;
}

std::vector<std::string> serial_numbers(const fs::path& root) {
  std::vector<fs::path> files{root / "etc/machine-id"};
  for (const char* name : {"product_serial", "product_uuid", "board_serial", "chassis_serial"}) {
    files.push_back(root / "sys/class/dmi/id" / name);
  }
  for (const fs::path& device : entries_of(root / "sys/bus/pci/devices")) {
    files.push_back(device / "unique_id");
    files.push_back(device / "serial_number");
  }
  for (const fs::path& link : entries_of(root / "sys/class/net")) {
    files.push_back(link / "address");
  }
  std::vector<std::string> found;
  for (const fs::path& file : files) {
    std::string serial = line_of_file(file);
    // "Default string", "None", 00:00:00:00:00:00 and the like are those of many machines.
    constexpr std::size_t shortest = 6;
    const bool tells =
        serial.size() >= shortest && serial.find_first_of("123456789") != std::string::npos;
    if (tells && std::find(found.begin(), found.end(), serial) == found.end()) {
      found.push_back(std::move(serial));
    }
  }
  return found;
}

}  // namespace assay::platform
