// SPDX-License-Identifier: Apache-2.0
#include "override_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "gpu_target.hpp"
#include "targets.hpp"
#include "text.hpp"

namespace diag_rocm {

namespace {

constexpr std::string_view variable = "HSA_OVERRIDE_GFX_VERSION";
constexpr auto npos = std::string_view::npos;
constexpr std::size_t most_names = 2;  // on a line about one GPU; more are a build's list

bool has_any(std::string_view text, std::initializer_list<std::string_view> tokens) {
  return std::any_of(tokens.begin(), tokens.end(),
                     [&](std::string_view token) { return text.find(token) != npos; });
}

/// What kernels of another instruction set end in.
bool is_fault(std::string_view line) {
  return has_any(line, {"Memory access fault by GPU", "MEMORY_APERTURE_VIOLATION",
                        "HSA_STATUS_ERROR_INVALID_ISA", "ILLEGAL_INSTRUCTION", "code: 0x100f",
                        "status: 0x100f", "GPU Hang"});
}

/// What LibTorch says where a binary holds no code for what the runtime reports.
bool is_lack_of_code(std::string_view line) {
  return has_any(line, {"HIP error: invalid device function", "hipErrorNoBinaryForGpu",
                        "no kernel image is available for execution on the device"});
}

/// What one place of the name says of the variable.
struct setting {
  enum class kind { none, taken_away, set } is = kind::none;
  std::string pretended{};  // "gfx1030"
  std::string value{};
};

setting setting_at(std::string_view line, std::size_t at) {
  const std::string before = lower(trimmed(line.substr(0, at)));
  const bool remark = before.starts_with("#") || before.starts_with("//") ||
                      before.starts_with("rem ") || before.find(" #") != npos;
  // Advice of others, not what was done.
  if (remark || has_any(lower(line), {"if you ", "you can ", "you may ", "you could "})) {
    return {};
  }
  if (before.ends_with("unset") || before.ends_with("env -u") || before.ends_with("env:")) {
    // PowerShell writes `$env:NAME = '...'` for the one and `Remove-Item Env:NAME` for the other.
    if (!before.ends_with("$env:")) {
      return {setting::kind::taken_away};
    }
  }
  std::string_view rest = line.substr(at + variable.size());
  while (!rest.empty() && (rest[0] == '_' || std::isdigit(static_cast<unsigned char>(rest[0])))) {
    rest.remove_prefix(1);  // of one GPU alone: HSA_OVERRIDE_GFX_VERSION_1
  }
  bool assigned = false;
  while (!rest.empty() && std::string_view(" =:\"'").find(rest[0]) != npos) {
    assigned = assigned || rest[0] == '=' || rest[0] == ':';
    rest.remove_prefix(1);
  }
  if (!assigned) {
    return {};
  }
  const std::string value(rest.substr(0, rest.find_first_not_of("0123456789.")));
  setting found{setting::kind::set, architecture_of_override(value), value};
  if (found.pretended.empty()) {
    found.is = setting::kind::taken_away;  // empty, "not set", "None"
  }
  return found;
}

/// "gfx1032", "gfx90a" on a line, each once.
std::vector<std::string> names_on(std::string_view line) {
  std::vector<std::string> names;
  for (std::size_t at = line.find("gfx"); at != npos; at = line.find("gfx", at + 1)) {
    const std::size_t end =
        std::min(line.find_first_not_of("0123456789abcdef", at + 3), line.size());
    const std::size_t figures = end - at - 3;
    std::string name(line.substr(at, end - at));
    if (figures >= 3 && figures <= 4 &&
        std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(std::move(name));
    }
  }
  return names;
}

/// The texts of a failure, read once.
struct reading_of_text {
  setting last{};
  std::string line{}, fault{}, lack{};
  std::vector<std::pair<std::string, std::string>> gpus{};  // name, and the line that has it

  void read(std::string_view text) {
    for (const std::string_view one : lines_of(text)) {
      take(std::string(one));
    }
  }

 private:
  void take(const std::string& text) {
    for (std::size_t at = text.find(variable); at != npos; at = text.find(variable, at + 1)) {
      const setting one = setting_at(text, at);
      if (one.is != setting::kind::none) {
        last = one;
        line = text;
      }
    }
    if (fault.empty() && is_fault(text)) {
      fault = text;
    }
    if (lack.empty() && is_lack_of_code(text)) {
      lack = text;
    }
    const std::vector<std::string> names = names_on(text);
    if (names.size() <= most_names) {
      for (const std::string& name : names) {
        gpus.emplace_back(name, text);
      }
    }
  }
};

assay::diagnosis another_set(const reading_of_text& seen, const std::string& gpu) {
  assay::diagnosis answer{.code = "ROCM-OVERRIDE-WRONG"};
  answer.cause =
      std::string(variable) + "=" + seen.last.value + " makes the runtime load code for " +
      seen.last.pretended + " on " + gpu +
      ", which has another instruction set: kernels fault, hang or compute wrong numbers.";
  return answer;
}

assay::diagnosis near_relation(const reading_of_text& seen, const std::string& gpu) {
  assay::diagnosis answer{.code = "ROCM-OVERRIDE-LENT"};
  answer.cause = std::string(variable) + "=" + seen.last.value + " lends " + gpu + " the code of " +
                 seen.last.pretended +
                 ", of the same generation. That runs as a rule, but nobody tests it, and hangs "
                 "have been reported.";
  return answer;
}

assay::diagnosis unknown_gpu(const reading_of_text& seen) {
  assay::diagnosis answer{.code = "ROCM-OVERRIDE-WRONG"};
  answer.cause = std::string(variable) + "=" + seen.last.value +
                 " makes the runtime load code for " + seen.last.pretended +
                 "; which GPU it is, the text does not say. Of another generation, its kernels "
                 "fault, hang or compute wrong numbers.";
  return answer;
}

}  // namespace

std::vector<assay::diagnosis> override_in_text::classify(const assay::failure& f) {
  reading_of_text seen;
  for (const std::string_view text :
       {f.log, f.stdout_text, f.warnings, f.stderr_text, f.trace, f.error_text}) {
    seen.read(text);
  }
  if (seen.last.is != setting::kind::set || (seen.fault.empty() && seen.lack.empty())) {
    return {};
  }
  if (!f.architecture.empty()) {
    seen.gpus.emplace_back(without_features(f.architecture), "");
  }
  const target* const other = find_target(seen.last.pretended);
  const auto relation = [&](const std::string& name) {
    const target* const real = find_target(name);
    return real != nullptr && other != nullptr && real->group == other->group;
  };
  std::erase_if(seen.gpus, [&](const auto& gpu) {
    return gpu.first == seen.last.pretended || find_target(gpu.first) == nullptr;
  });
  const auto foreign = std::find_if(seen.gpus.begin(), seen.gpus.end(),
                                    [&](const auto& gpu) { return !relation(gpu.first); });
  assay::diagnosis answer;
  std::string named;
  if (foreign != seen.gpus.end()) {
    answer = another_set(seen, foreign->first);
    // Beside a GPU that it suits, it is not known which of them faulted.
    const bool suits_one = std::any_of(seen.gpus.begin(), seen.gpus.end(),
                                       [&](const auto& gpu) { return relation(gpu.first); });
    answer.confidence = suits_one ? "possible" : "likely";
    named = foreign->second;
  } else if (seen.fault.empty()) {
    return {};  // a build without code for what is pretended: the override is not at fault
  } else if (!seen.gpus.empty()) {
    answer = near_relation(seen, seen.gpus.front().first);
    named = seen.gpus.front().second;
  } else {
    answer = unknown_gpu(seen);
  }
  for (const std::string& line : {seen.line, named, seen.fault.empty() ? seen.lack : seen.fault}) {
    if (!line.empty() &&
        std::find(answer.evidence.begin(), answer.evidence.end(), line) == answer.evidence.end()) {
      answer.evidence.push_back(line);
    }
  }
  return {std::move(answer)};
}

}  // namespace diag_rocm
