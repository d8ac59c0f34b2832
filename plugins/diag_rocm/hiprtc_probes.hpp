// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <assay/diagnostics.hpp>
#include <memory>
#include <string>
#include <vector>

#include "environment.hpp"

namespace diag_rocm {

/// Compiled for where no GPU is known and none is asked for. Every HIPRTC since ROCm 4 knows it,
/// and what the ladder asks does not depend on it.
inline constexpr const char* default_architecture = "gfx1030";

/// The ladder, from the lowest rung up: rocm.hiprtc_plain, rocm.hiprtc_headers, rocm.hiprtc_cure.
std::vector<std::unique_ptr<assay::probe>> hiprtc_probes(
    const environment_source& source = environment_of);

/// What is wrong with the folder that the compiler takes for its temporary files; empty: nothing.
std::string scratch_fault(const environment& variables);

}  // namespace diag_rocm
