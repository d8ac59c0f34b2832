// SPDX-License-Identifier: Apache-2.0
#include "common/platform.hpp"
#include "common/probing.hpp"
#include "diag_system/probes.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace diag_system {
namespace {

constexpr std::size_t most_bytes = std::size_t{2} << 20;
constexpr std::size_t most_lines = 3;

/// A denial that GPU programs run into.
bool concerns_gpus(std::string_view line) {
  constexpr std::array<std::string_view, 7> tokens{
      "\"kfd\"", "renderD", "nvidia", "execstack", "execmem", "execheap", "hsa_device_t"};
  return line.find("avc:  denied") != std::string_view::npos &&
         std::any_of(tokens.begin(), tokens.end(), [&](std::string_view token) {
           return line.find(token) != std::string_view::npos;
         });
}

/// A device whose mode lets everyone in, and that is refused all the same.
std::string refused_device(const assay::probe_site& site) {
  namespace fs = std::filesystem;
  constexpr auto everyone = fs::perms::others_read | fs::perms::others_write;
  for (const char* node : {"/dev/kfd", "/dev/dri/renderD128", "/dev/nvidiactl"}) {
    std::error_code code;
    const fs::perms mode = fs::status(site.at(node), code).permissions();
    if (code || (mode & everyone) != everyone) {
      continue;
    }
    if (const std::string why = probing::why_not_openable(site.at(node)); !why.empty()) {
      return std::string(node) + ": " + why;
    }
  }
  return "";
}

}  // namespace

assay::probe_answer look_at_selinux(const assay::probe_site& site) {
  if (probing::is_windows && site.is_this_machine()) {
    return probing::unknown(probing::only_linux);
  }
  const std::string enforce =
      probing::read_text(site.at("/sys/fs/selinux/enforce"), 16).value_or("");
  const std::string read =
      probing::read_text(site.at("/proc/self/attr/current"), 4096).value_or("");
  const std::string label(probing::trimmed(read));
  // AppArmor uses the same file; only SELinux's labels have four parts.
  const bool labelled = std::count(label.begin(), label.end(), ':') >= 3;
  const bool in_container = labelled && label.find(":container_t:") != std::string::npos;
  if (in_container) {
    // Inside, the host's SELinux is not to be seen, but it is what gave the label.
    const std::string refused = site.is_this_machine() ? refused_device(site) : "";
    if (refused.empty()) {
      return probing::yes("confined as container_t, and no GPU device is refused");
    }
    auto answer =
        probing::no("this container is confined by SELinux (container_t), and " + refused +
                        ": on the host, setsebool -P container_use_devices=true",
                    "SYSTEM-SELINUX");
    answer.evidence.push_back(label);
    return answer;
  }
  if (probing::trimmed(enforce) != "1") {
    return probing::yes(probing::trimmed(enforce) == "0" ? "SELinux only reports (permissive)"
                                                         : "SELinux is not active");
  }
  const auto log = probing::read_end(site.at("/var/log/audit/audit.log"), most_bytes);
  if (!log) {
    return probing::unknown(
        "SELinux enforces; its log may not be read (try: sudo ausearch -m avc)");
  }
  std::vector<std::string> denials;
  for (const std::string_view line : probing::lines_of(*log)) {
    if (concerns_gpus(line)) {
      denials.emplace_back(line);
    }
  }
  if (denials.empty()) {
    return probing::yes("SELinux enforces, and its log shows no denial that concerns GPUs");
  }
  auto answer = probing::no("SELinux enforces, and refused " + std::to_string(denials.size()) +
                                " accesses that GPU programs need",
                            "SYSTEM-SELINUX");
  const std::size_t from = denials.size() - std::min(denials.size(), most_lines);
  answer.evidence.assign(denials.begin() + static_cast<std::ptrdiff_t>(from), denials.end());
  return answer;
}

}  // namespace diag_system
