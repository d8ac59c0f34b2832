// SPDX-License-Identifier: Apache-2.0
//
// Room in a folder, apart from how it was looked up, so that a full disk can be tried without one.
#pragma once

#include <assay/diagnostics.hpp>

#include <optional>
#include <string>
#include <vector>

namespace diag_system {

struct folder {
  std::string role;  // "home", "cache", "temporary"
  std::string path;
  bool there = true;
  std::string not_writable{};    // why; empty: it is, or that could not be asked
  std::optional<double> free{};  // bytes; none: could not be asked
  std::string mount_line{};      // evidence
  bool network = false;
};

assay::probe_answer judge_folders(const std::vector<folder>& folders);

}  // namespace diag_system
