// SPDX-License-Identifier: Apache-2.0
//
// Which GPU architectures ("targets") this is about, and which code serves them.
#pragma once

#include <assay/diagnostics.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "environment.hpp"

namespace diag_rocm {

struct gpu_target {
  std::string architecture;  // "gfx1032"; with features where they were given: "gfx90a:xnack-"
  std::string source;        // for people: how it is known
  std::vector<int> nodes{};  // of the KFD topology; empty: not known
};

/// The targets of the GPUs in question: what the site names, else what the kernel driver lists and
/// the visibility variables leave, under HSA_OVERRIDE_GFX_VERSION where it is set. Each once.
std::vector<gpu_target> gpu_targets(const assay::probe_site& site, const environment& variables);

/// "gfx90a:sramecc+:xnack-" -> "gfx90a".
std::string without_features(std::string_view architecture);

/// "10.3.0", as HSA_OVERRIDE_GFX_VERSION has it -> "gfx1030"; empty where it is no such version.
std::string architecture_of_override(std::string_view text);

/// Whether code made for `code` ("gfx90a:xnack-", "gfx10-3-generic") runs on a GPU `gpu`.
bool code_serves(std::string_view code, std::string_view gpu);

}  // namespace diag_rocm
