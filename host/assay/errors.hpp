// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <system_error>

namespace assay {

/// Exit statuses, documented in docs/exit-status.md. `failed` wins over `tool`: a failing check is
/// a finding, and what could not be done is reported beside it.
namespace exit_status {
inline constexpr int ok = 0;
inline constexpr int failed = 1;       // a check failed
inline constexpr int usage = 2;        // wrong options or configuration
inline constexpr int tool = 3;         // the tool, a plugin or the device could not do its part
inline constexpr int nothing_ran = 4;  // no check ran, or all were skipped
inline constexpr int regression = 5;   // compare: something became worse
inline constexpr int interrupted = 130;
}  // namespace exit_status

/// Why a file could not be written, from the `errno` that was left behind.
inline std::string write_failure(int code) {
  return code == 0 ? "the write failed" : std::generic_category().message(code);
}

/// Wrong options or configuration: what() is the one line for the user, without "assay: ".
class usage_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Something could not be done; what() as above.
class tool_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace assay
