// SPDX-License-Identifier: Apache-2.0
#include "diag_cuda/probes.hpp"

#include <assay/plugin.hpp>

#include <utility>

ASSAY_DIAGNOSTIC_PLUGIN("diag_cuda", "0.1.0", "assay project")(assay::registry& plugin) {
  for (auto& probe : diag_cuda::all_probes()) {
    plugin.add(std::move(probe));
  }
}
