// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <assay/diagnostics.hpp>

#include <filesystem>
#include <vector>

namespace probing {

/// The folders that /etc/ld.so.conf and what it includes name, below the site's root, in order,
/// whether they exist or not: what ld.so.cache is made from.
std::vector<std::filesystem::path> configured_library_folders(const assay::probe_site& site);

}  // namespace probing
