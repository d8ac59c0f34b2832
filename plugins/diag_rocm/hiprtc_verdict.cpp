// SPDX-License-Identifier: Apache-2.0
#include "hiprtc_verdict.hpp"

#include <algorithm>
#include <array>

#include "tree.hpp"

namespace diag_rocm {
namespace {

constexpr std::size_t most_lines = 6;

struct reading {
  std::string_view token;
  std::string_view finding;
  std::string_view fact;
};

// The first whose token occurs decides. Headers of libc and of clang are looked for only by C++
// headers that were found, so they come first.
constexpr std::array readings{
    reading{"'features.h' file not found", "ROCM-HIPRTC-LIBC-HEADERS",
            "the host's C++ headers are found, but not the C library's that they need"},
    reading{"'stddef.h' file not found", "ROCM-HIPRTC-RESOURCE-DIR",
            "the compiler's own C headers (stddef.h) are not found"},
    reading{"'stdarg.h' file not found", "ROCM-HIPRTC-RESOURCE-DIR",
            "the compiler's own C headers (stdarg.h) are not found"},
    reading{"error: redefinition of", "ROCM-HIPRTC-HEADER-CLASH",
            "the host's C++ headers clash with those built into HIPRTC"},
    reading{"error: typedef redefinition", "ROCM-HIPRTC-HEADER-CLASH",
            "the host's headers clash with those built into HIPRTC"},
    reading{"'type_traits' file not found", "ROCM-HIPRTC-HEADERS",
            "no C++ standard library headers are found"},
    reading{"cannot find ROCm device library", "ROCM-HIPRTC-DEVICE-LIBS",
            "the compiler finds no device library (amdgcn/bitcode)"},
    reading{"error: unknown argument", "ROCM-HIPRTC-OPTIONS",
            "the compiler is given an option that it does not know"},
    reading{"error: unsupported option", "ROCM-HIPRTC-OPTIONS",
            "the compiler is given an option that it does not take"},
};

bool is_decisive(std::string_view line) {
  return line.find("error: ") != std::string_view::npos ||
         line.find("Error: ") != std::string_view::npos;
}

}  // namespace

hiprtc_verdict judge_hiprtc_log(std::string_view log, std::string_view scratch_fault) {
  hiprtc_verdict verdict;
  for (const std::string& line : tree::lines(log)) {
    if (is_decisive(line) && verdict.evidence.size() < most_lines) {
      verdict.evidence.push_back(line);
    }
  }
  const auto found = std::find_if(readings.begin(), readings.end(), [&](const reading& one) {
    return log.find(one.token) != std::string_view::npos;
  });
  if (found != readings.end()) {
    verdict.finding = found->finding;
    verdict.fact = found->fact;
    // The line that decided is among the evidence, however many came before it.
    const auto shown = [&](const std::string& line) {
      return line.find(found->token) != std::string::npos;
    };
    if (std::none_of(verdict.evidence.begin(), verdict.evidence.end(), shown)) {
      for (const std::string& line : tree::lines(log)) {
        if (shown(line)) {
          verdict.evidence.push_back(line);
          break;
        }
      }
    }
    return verdict;
  }
  if (!scratch_fault.empty()) {
    verdict.finding = "ROCM-HIPRTC-TMPDIR";
    verdict.fact = "the compiler has no folder for its temporary files: ";
    verdict.fact += scratch_fault;
    return verdict;
  }
  verdict.finding = "ROCM-HIPRTC-BROKEN";
  const std::size_t missing = log.find("file not found");
  if (missing != std::string_view::npos) {
    verdict.finding = "ROCM-HIPRTC-HEADERS";
    verdict.fact = "a header is not found";
  } else if (log.empty()) {
    verdict.fact = "the compiler fails without a word";
  } else {
    verdict.fact = "the compiler fails for a reason of its own";
  }
  return verdict;
}

}  // namespace diag_rocm
