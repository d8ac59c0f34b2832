// SPDX-License-Identifier: Apache-2.0
#include "common/platform.hpp"
#include "common/probing.hpp"
#include "diag_system/probes.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace diag_system {
namespace {

namespace fs = std::filesystem;

constexpr double kibibyte = 1024.0;
constexpr double gibibyte = 1024.0 * 1024 * 1024;
// LibTorch with a GPU back end holds about 2 GiB of the host's memory before its first tensor.
constexpr double least_available = 2 * gibibyte;
// CUDA and ROCm reserve addresses for all of the host's and the GPUs' memory at their start.
constexpr double least_addresses = 256 * gibibyte;
// What means "no limit" in the files of version 1.
constexpr double no_limit = 1e18;

std::optional<double> number_in(const fs::path& file) {
  const auto value = probing::whole_number(probing::read_text(file, 64).value_or(""));
  return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
}

/// "MemAvailable:   12345 kB", in bytes.
std::optional<double> of_meminfo(const std::string& text, std::string_view key) {
  for (const std::string_view line : probing::lines_of(text)) {
    if (line.substr(0, key.size()) == key && line.size() > key.size() && line[key.size()] == ':') {
      std::string_view value = probing::trimmed(line.substr(key.size() + 1));
      value = value.substr(0, value.find(' '));
      const auto number = probing::whole_number(value);
      return number ? std::optional(static_cast<double>(*number) * kibibyte) : std::nullopt;
    }
  }
  return std::nullopt;
}

struct limit {
  double size;
  double left;
  std::string source;
};

/// What the kernel would give back of its cached files before it refuses memory.
double reclaimable(const fs::path& group) {
  const std::string text = probing::read_text(group / "memory.stat").value_or("");
  for (const std::string_view line : probing::lines_of(text)) {
    for (const std::string_view key : {"inactive_file ", "total_inactive_file "}) {
      if (line.substr(0, key.size()) == key) {
        return static_cast<double>(probing::whole_number(line.substr(key.size())).value_or(0));
      }
    }
  }
  return 0;
}

std::optional<limit> limit_in(const assay::probe_site& site, const fs::path& folder,
                              const char* limit_name, const char* used_name) {
  const fs::path group = site.at(folder);
  const auto size = number_in(group / limit_name);  // "max" is no number: no limit
  if (!size || *size >= no_limit) {
    return std::nullopt;
  }
  const double used = number_in(group / used_name).value_or(0) - reclaimable(group);
  return limit{*size, std::max(0.0, *size - std::max(0.0, used)), (folder / limit_name).string()};
}

/// The tightest limit of this process's control groups, from its own up to the root.
std::optional<limit> group_limit(const assay::probe_site& site) {
  std::vector<limit> found;
  const auto climb = [&](const fs::path& base, fs::path group, const char* limit_name,
                         const char* used_name) {
    for (int depth = 0; depth < 32; ++depth) {
      if (auto one = limit_in(site, base / group.relative_path(), limit_name, used_name)) {
        found.push_back(*std::move(one));
      }
      if (!group.has_relative_path()) {
        break;
      }
      group = group.parent_path();
    }
  };
  const std::string text = probing::read_text(site.at("/proc/self/cgroup")).value_or("0::/\n");
  for (const std::string_view line : probing::lines_of(text)) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string_view::npos) {
      continue;
    }
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const fs::path group(line.substr(second + 1));
    if (controllers.empty()) {
      climb("/sys/fs/cgroup", group, "memory.max", "memory.current");
    } else if (controllers.find("memory") != std::string_view::npos) {
      climb("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes", "memory.usage_in_bytes");
    }
  }
  const auto tightest = std::min_element(
      found.begin(), found.end(), [](const limit& a, const limit& b) { return a.left < b.left; });
  return tightest == found.end() ? std::nullopt : std::optional(*tightest);
}

}  // namespace

assay::probe_answer look_at_memory(const assay::probe_site& site) {
  if (probing::is_windows && site.is_this_machine()) {
    return probing::unknown(probing::only_linux);
  }
  const std::string meminfo = probing::read_text(site.at("/proc/meminfo")).value_or("");
  const auto available = of_meminfo(meminfo, "MemAvailable");
  const auto total = of_meminfo(meminfo, "MemTotal");
  const auto group = group_limit(site);
  std::vector<std::string> facts;
  std::vector<std::string> troubles;
  if (available && total) {
    const std::string fact =
        probing::size_text(*available) + " of " + probing::size_text(*total) + " memory available";
    (*available < least_available ? troubles : facts).push_back(fact);
  }
  if (group) {
    const std::string fact = "this control group may use " + probing::size_text(group->size) +
                             ", of which " + probing::size_text(group->left) + " are left";
    (group->left < least_available ? troubles : facts).push_back(fact);
  }
  if (site.is_this_machine()) {
    if (const auto addresses = probing::address_space_limit()) {
      const std::string fact = "the address space is limited to " +
                               probing::size_text(static_cast<double>(*addresses)) +
                               " (ulimit -v), and GPU programs reserve far more than they use";
      (static_cast<double>(*addresses) < least_addresses ? troubles : facts).push_back(fact);
    }
  }
  if (troubles.empty() && facts.empty()) {
    return probing::unknown("/proc/meminfo says nothing of available memory");
  }
  assay::probe_answer answer =
      troubles.empty() ? probing::yes(probing::joined(facts, "; "))
                       : probing::no(probing::joined(troubles, "; "), "SYSTEM-OUT-OF-MEMORY");
  if (available) {
    answer.values.emplace_back("available", probing::size_text(*available));
  }
  if (group) {
    answer.evidence.push_back(group->source + ": " +
                              std::to_string(static_cast<std::uint64_t>(group->size)));
  }
  return answer;
}

}  // namespace diag_system
