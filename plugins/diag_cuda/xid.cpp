// SPDX-License-Identifier: Apache-2.0
#include "common/platform.hpp"
#include "common/probing.hpp"
#include "diag_cuda/machine.hpp"
#include "diag_cuda/probes.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace diag_cuda {
namespace {

constexpr std::size_t most_bytes = std::size_t{4} << 20;
constexpr std::size_t most_lines = 5;
constexpr std::string_view token = "NVRM: Xid (";

// Those that stand for the card, its link or its firmware (NVIDIA's list of Xid errors).
constexpr std::array<std::uint64_t, 12> hardware{48, 62, 63, 64, 74, 79, 92, 94, 95, 119, 120, 140};

struct report {
  std::string line;
  std::uint64_t number = 0;
};

std::optional<report> report_in(std::string_view line) {
  const std::size_t at = line.find(token);
  const std::size_t close = at == std::string_view::npos ? at : line.find("): ", at);
  if (close == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view rest = line.substr(close + 3);
  const std::size_t end = std::min(rest.find_first_not_of("0123456789"), rest.size());
  const auto number = probing::whole_number(rest.substr(0, end));
  // Of a record of /dev/kmsg, without its "6,123,456,-;".
  const std::size_t head = line.find(';');
  const std::size_t from = head != std::string_view::npos && head < at ? head + 1 : 0;
  return number ? std::optional(report{std::string(probing::trimmed(line.substr(from))), *number})
                : std::nullopt;
}

struct log_text {
  std::optional<std::string> text{};
  std::string source{};
  std::string why_not{};
};

/// Since the last start of the kernel: what is older says nothing of now.
std::string_view since_start(std::string_view text) {
  const std::size_t at = text.rfind("Linux version ");
  return at == std::string_view::npos ? text : text.substr(at);
}

log_text read_log(const assay::probe_site& site) {
  log_text found;
  std::vector<std::string> reasons;
  if (site.is_this_machine()) {
    std::string why;
    found.text = probing::kernel_log(site.at("/dev/kmsg"), most_bytes, why);
    found.source = "/dev/kmsg";
    if (found.text) {
      return found;
    }
    reasons.push_back("/dev/kmsg: " + why);
  }
  for (const char* name :
       {"/var/log/kern.log", "/var/log/messages", "/var/log/syslog", "/var/log/dmesg"}) {
    const std::filesystem::path path = site.at(name);
    if (!probing::is_there(path)) {
      continue;
    }
    if (const auto text = probing::read_end(path, most_bytes)) {
      found.text = std::string(since_start(*text));
      found.source = name;
      return found;
    }
    reasons.push_back(std::string(name) + ": may not be read");
  }
  found.why_not = reasons.empty() ? "no kernel log is there" : probing::joined(reasons, "; ");
  return found;
}

}  // namespace

assay::probe_answer look_at_kernel_log(const assay::probe_site& site) {
  if (probing::is_windows && site.is_this_machine()) {
    return probing::unknown(std::string(probing::only_linux) +
                            "; Windows has it in the event log, source nvlddmkm");
  }
  const machine m = look_at(site);
  if (!m.has_gpu()) {
    return probing::unknown(no_gpu_reason(m));
  }
  const log_text log = read_log(site);
  if (!log.text) {
    return probing::unknown("the kernel log may not be read: " + log.why_not);
  }
  std::vector<report> reports;
  for (const std::string_view line : probing::lines_of(*log.text)) {
    if (auto found = report_in(line)) {
      reports.push_back(std::move(*found));
    }
  }
  if (reports.empty()) {
    return probing::yes("no Xid in " + log.source);
  }
  const auto is_hardware = [](const report& one) {
    return std::find(hardware.begin(), hardware.end(), one.number) != hardware.end();
  };
  const bool of_hardware = std::any_of(reports.begin(), reports.end(), is_hardware);
  std::vector<std::string> numbers;
  for (const report& one : reports) {
    const std::string number = std::to_string(one.number);
    if (std::find(numbers.begin(), numbers.end(), number) == numbers.end()) {
      numbers.push_back(number);
    }
  }
  auto answer = probing::no(std::to_string(reports.size()) +
                                (reports.size() == 1 ? " fault report" : " fault reports") +
                                " in " + log.source + ": Xid " + probing::joined(numbers, ", "),
                            of_hardware ? "CUDA-XID-HARDWARE" : "CUDA-XID-APPLICATION");
  // The newest, and of the kind that the finding speaks of.
  for (auto one = reports.rbegin(); one != reports.rend() && answer.evidence.size() < most_lines;
       ++one) {
    if (is_hardware(*one) == of_hardware) {
      answer.evidence.push_back(one->line);
    }
  }
  return answer;
}

}  // namespace diag_cuda
