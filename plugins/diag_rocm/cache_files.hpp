// SPDX-License-Identifier: Apache-2.0
//
// Where MIOpen keeps what it learns and compiles, and whether those files and folders are sound.
#pragma once

#include <assay/diagnostics.hpp>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "environment.hpp"

namespace diag_rocm {

struct cache_place {
  std::string purpose{};           // "user database", "kernel cache"
  std::filesystem::path folder{};  // on its machine
  std::string named_by{};          // the variable that names it, where one does
};

/// MIOpen's, for this platform, under the variables that are set.
std::vector<cache_place> miopen_places(const assay::probe_site& site, const environment& variables);

struct mount {
  std::string type{};  // "ext4", "nfs4"
  std::string folder{};
  bool read_only = false;
  [[nodiscard]] bool is_network() const;
};

/// The file system that holds `path`, by /proc/self/mounts; its type is empty where it is not
/// known.
mount mount_of(const assay::probe_site& site, const std::filesystem::path& path);

/// What is wrong with an SQLite file, by its header; empty: nothing is seen.
std::string sqlite_fault(const std::filesystem::path& file);

/// The same for MIOpen's text databases (lines of key=value).
std::string text_database_fault(const std::filesystem::path& file);

}  // namespace diag_rocm
