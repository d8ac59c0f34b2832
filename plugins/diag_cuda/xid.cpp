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

// Whose fault a number stands for, by NVIDIA's catalogue of Xid errors. rules/xid.toml has the same
// lists for pasted logs.
constexpr std::array<std::uint64_t, 33> hardware{
    46,  48,  54,  57,  58,  62,  63,  64,  74,  79,  92,  94,  95,  109, 110, 119, 120,
    136, 140, 143, 144, 145, 146, 147, 148, 149, 150, 156, 157, 158, 167, 171, 172};
constexpr std::array<std::uint64_t, 10> application{8, 11, 13, 25, 31, 43, 45, 69, 80, 137};

// In the order in which they count.
enum class fault { of_unknown, of_application, of_hardware };

fault fault_of(std::uint64_t number) {
  const auto among = [&](const auto& list) {
    return std::find(list.begin(), list.end(), number) != list.end();
  };
  return among(hardware)      ? fault::of_hardware
         : among(application) ? fault::of_application
                              : fault::of_unknown;
}

const char* code_of(fault one) {
  switch (one) {
    case fault::of_hardware:
      return "CUDA-XID-HARDWARE";
    case fault::of_application:
      return "CUDA-XID-APPLICATION";
    case fault::of_unknown:
      break;
  }
  return "CUDA-XID-OTHER";
}

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
  fault worst = fault::of_unknown;
  std::vector<std::string> numbers;
  for (const report& one : reports) {
    worst = std::max(worst, fault_of(one.number));
    const std::string number = std::to_string(one.number);
    if (std::find(numbers.begin(), numbers.end(), number) == numbers.end()) {
      numbers.push_back(number);
    }
  }
  auto answer = probing::no(std::to_string(reports.size()) +
                                (reports.size() == 1 ? " fault report" : " fault reports") +
                                " in " + log.source + ": Xid " + probing::joined(numbers, ", "),
                            code_of(worst));
  // The newest, and of the kind that the finding speaks of.
  for (auto one = reports.rbegin(); one != reports.rend() && answer.evidence.size() < most_lines;
       ++one) {
    if (fault_of(one->number) == worst) {
      answer.evidence.push_back(one->line);
    }
  }
  return answer;
}

}  // namespace diag_cuda
