// SPDX-License-Identifier: Apache-2.0
//
// Where the loader and ROCm's programs look for libraries.
#pragma once

#include <assay/diagnostics.hpp>
#include <filesystem>
#include <string_view>
#include <vector>

#include "environment.hpp"
#include "host/common/elf_file.hpp"

namespace diag_rocm {

// Every folder here exists below the site's root and is named with it, in the order of the search,
// each once.

/// Where this LibTorch brings its own ROCm: its lib folder, ROCm's Python packages beside it.
std::vector<std::filesystem::path> torch_folders(const assay::probe_site& site);

/// ROCM_PATH's and /opt/rocm*, the newest first.
std::vector<std::filesystem::path> rocm_folders(const assay::probe_site& site,
                                                const environment& variables);

/// LD_LIBRARY_PATH's.
std::vector<std::filesystem::path> environment_folders(const assay::probe_site& site,
                                                       const environment& variables);

/// Those of /etc/ld.so.conf with what it includes, and those that the loader knows by itself.
std::vector<std::filesystem::path> system_folders(const assay::probe_site& site);

/// All of these, in the order in which LibTorch's libraries would find theirs.
std::vector<std::filesystem::path> all_library_folders(const assay::probe_site& site,
                                                       const environment& variables);

/// The first file in these folders that is the library `stem` ("librocblas", or rocblas.dll), by
/// any version; empty: none.
std::filesystem::path find_library(const std::vector<std::filesystem::path>& folders,
                                   std::string_view stem);

/// Those that a library's own RUNPATH or RPATH names, with $ORIGIN put in.
std::vector<std::filesystem::path> run_path_folders(const elf::file& library,
                                                    const std::filesystem::path& root);

}  // namespace diag_rocm
