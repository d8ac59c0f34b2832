// SPDX-License-Identifier: Apache-2.0
#include "host/platform/memory.hpp"

#include <algorithm>
#include <fstream>
#include <string>

namespace assay::platform {

namespace {

namespace fs = std::filesystem;

/// The number behind a key at the beginning of a line ("MemAvailable:   12345 kB").
std::optional<std::uint64_t> number_behind(const fs::path& file, const std::string& key) {
  std::ifstream in(file);
  for (std::string word, rest; in >> word; std::getline(in, rest)) {
    std::uint64_t number = 0;
    if (word == key && in >> number) {
      return number;
    }
    in.clear();
  }
  return std::nullopt;
}

std::optional<std::uint64_t> number_in(const fs::path& file) {
  std::ifstream in(file);
  std::uint64_t number = 0;
  return in >> number ? std::optional(number) : std::nullopt;  // "max" is no number: no limit
}

/// What is left in a group and in those around it. The kernel gives its cached files back first.
void take_limits(const fs::path& base, fs::path group, const char* limit, const char* usage,
                 const char* cached, std::uint64_t& available) {
  constexpr int deepest = 32;
  for (int depth = 0; depth < deepest; ++depth) {
    const fs::path folder = base / group.relative_path();
    if (const auto size = number_in(folder / limit)) {
      const std::uint64_t used = number_in(folder / usage).value_or(0);
      const std::uint64_t held =
          used - std::min(used, number_behind(folder / "memory.stat", cached).value_or(0));
      available = std::min(available, *size - std::min(*size, held));
    }
    if (!group.has_relative_path()) {
      return;
    }
    group = group.parent_path();
  }
}

}  // namespace

std::optional<std::uint64_t> available_memory(const fs::path& root) {
  constexpr std::uint64_t kibibyte = 1024;
  const auto total = number_behind(root / "proc/meminfo", "MemAvailable:");
  if (!total) {
    return std::nullopt;
  }
  std::uint64_t available = *total * kibibyte;
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (second == std::string::npos) {
      continue;
    }
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const fs::path group = line.substr(second + 1);
    if (controllers.empty()) {
      take_limits(root / "sys/fs/cgroup", group, "memory.max", "memory.current", "inactive_file",
                  available);
    } else if (controllers.find("memory") != std::string::npos) {
      take_limits(root / "sys/fs/cgroup/memory", group, "memory.limit_in_bytes",
                  "memory.usage_in_bytes", "total_inactive_file", available);
    }
  }
  return available;
}

}  // namespace assay::platform
