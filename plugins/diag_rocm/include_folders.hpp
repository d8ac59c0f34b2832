// SPDX-License-Identifier: Apache-2.0
//
// The host's own C++ and C headers, as a run-time compiler could be pointed at them.
#pragma once

#include <assay/diagnostics.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "environment.hpp"

namespace diag_rocm {

struct include_folders {
  std::vector<std::filesystem::path> cxx{};  // in the order of the search; empty: none found
  std::vector<std::filesystem::path> c{};    // to be searched after them
  std::string variable = "CPLUS_INCLUDE_PATH";
  char separator = ':';

  [[nodiscard]] std::string joined(bool with_c) const;
};

/// The newest libstdc++ whose headers are complete, else libc++; on Windows, Visual Studio's.
/// Paths are those of the machine, without the site's root.
include_folders find_include_folders(const assay::probe_site& site, const environment& variables);

}  // namespace diag_rocm
