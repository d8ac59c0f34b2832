// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <assay/plugin.hpp>
#include <memory>
#include <vector>

namespace diag_rocm {

/// Probes of ROCm's libraries: does HIPRTC compile, are there library files and code for this GPU,
/// do the libraries load, may the caches be written?
std::vector<std::unique_ptr<assay::probe>> library_probes();

void add_library_probes(assay::registry& plugin);

}  // namespace diag_rocm
