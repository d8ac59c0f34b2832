// SPDX-License-Identifier: Apache-2.0
//
// What the loader would do with a library, by the files alone: nothing is opened, since some of
// ROCm's libraries end the process that loads them.
#pragma once

#include <assay/diagnostics.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "environment.hpp"

namespace diag_rocm {

struct missing_library {
  std::string name{};       // as it is asked for: "libMIOpen.so.1"
  std::string needed_by{};  // a path
};

struct load_plan {
  std::vector<std::filesystem::path> files{};  // in the order in which they are loaded
  std::vector<missing_library> missing{};
};

/// `also` are folders that the loader does not know of, asked last.
load_plan plan_loading(const std::filesystem::path& library, const assay::probe_site& site,
                       const environment& variables,
                       const std::vector<std::filesystem::path>& also = {});

}  // namespace diag_rocm
