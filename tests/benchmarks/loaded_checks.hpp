// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <assay/abi.h>

#include <filesystem>
#include <string>
#include <vector>

namespace assay::benchmarks {

struct loaded_check {
  std::string id;  // "category/name"
  const assay_check* check;
};

/// The checks of every op pack in this folder, loaded as assay-worker loads them; they live until
/// the process ends. Throws std::runtime_error when a pack is refused or there is no check.
std::vector<loaded_check> load_checks(const std::filesystem::path& plugin_dir);

}  // namespace assay::benchmarks
