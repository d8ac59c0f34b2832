// SPDX-License-Identifier: Apache-2.0
//
// The files that rocBLAS, hipBLASLt and MIOpen keep for each GPU architecture.
#pragma once

#include <assay/diagnostics.hpp>
#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "environment.hpp"

namespace diag_rocm {

/// What a folder holds for one architecture.
struct target_files {
  bool index = false;     // the file without which the library knows nothing of it
  std::size_t count = 0;  // files whose names have it
  std::size_t tuned = 0;  // of these, kernels that are not fallbacks
};

struct data_folder {
  std::filesystem::path library{};                // librocblas.so; empty: there is none
  std::filesystem::path folder{};                 // empty: not where the library looks
  std::string named_by{};                         // the variable that names it, where one does
  bool plain_index = false;                       // one index for all architectures
  std::map<std::string, target_files> targets{};  // by architecture

  /// "gfx900, gfx906": those with an index.
  [[nodiscard]] std::string target_list() const;
};

data_folder rocblas_data(const assay::probe_site& site, const environment& variables);
data_folder hipblaslt_data(const assay::probe_site& site, const environment& variables);
/// Index: files for one number of compute units; tuned: how many of them.
data_folder miopen_data(const assay::probe_site& site, const environment& variables);

/// Architectures in a file's name: "Kernels.so-000-gfx90a-xnack+.hsaco" -> gfx90a; empty: none.
std::string architecture_in(std::string_view file_name);

/// What MIOpen calls a file of this name is for: "gfx90a68.HIP.fdb.txt" -> {"gfx90a", 104},
/// "gfx1030_36.db" -> {"gfx1030", 36}, "gfx942.tn.model" -> {"gfx942", 0}.
struct miopen_name {
  std::string architecture{};
  unsigned compute_units = 0;  // 0: for any
};
miopen_name read_miopen_name(std::string_view file_name);

}  // namespace diag_rocm
