// SPDX-License-Identifier: Apache-2.0
//
// Where the loader and ROCm's programs look for libraries.
#pragma once

#include <assay/diagnostics.hpp>
#include <filesystem>
#include <vector>

#include "common/elf_file.hpp"
#include "environment.hpp"

namespace diag_rocm {

// Every folder here exists below the site's root and is named with it, in the order of the search,
// each once.

/// Where this LibTorch's ROCm may lie: its own lib folder, ROCm's Python packages beside it,
/// ROCM_PATH, /opt/rocm*.
std::vector<std::filesystem::path> rocm_library_folders(const assay::probe_site& site,
                                                        const environment& variables);

/// LD_LIBRARY_PATH's.
std::vector<std::filesystem::path> environment_folders(const assay::probe_site& site,
                                                       const environment& variables);

/// Those of /etc/ld.so.conf with what it includes, and those that the loader knows by itself.
std::vector<std::filesystem::path> system_folders(const assay::probe_site& site);

/// Those that a library's own RUNPATH or RPATH names, with $ORIGIN put in.
std::vector<std::filesystem::path> run_path_folders(const elf::file& library,
                                                    const std::filesystem::path& root);

}  // namespace diag_rocm
