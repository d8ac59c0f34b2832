// SPDX-License-Identifier: Apache-2.0
//
// The files of --known-issues: docs/known-issues.md describes them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// One [[issue]]. An empty list or text: it says nothing about that.
struct known_issue {
  std::filesystem::path file;
  int line = 0;
  std::vector<std::string> ids;            // globs
  std::vector<std::string> architectures;  // globs
  std::vector<std::string> builds;         // rocm, cuda, cpu
  std::vector<std::string> devices;        // globs
  std::vector<std::string> fails;          // words of known_failures()
  std::string torch;                       // ">=2.9, <2.12"
  std::string reason;                      // one line
  std::string link;
  std::string expires;  // "2027-03-01", the last day on which it excuses

  /// "known.toml:12".
  [[nodiscard]] std::string place() const;
};

/// What `fails` may say: statuses, "ran" for any of them, and the links of the chain.
const std::vector<std::string_view>& known_failures();

/// Throws usage_error, which begins with file and line.
std::vector<known_issue> read_known_issues(const std::filesystem::path& file,
                                           std::string_view text);

/// Of all files, in their order. Throws usage_error also for a file that cannot be read.
std::vector<known_issue> read_known_issues(const std::vector<std::filesystem::path>& files);

}  // namespace assay
