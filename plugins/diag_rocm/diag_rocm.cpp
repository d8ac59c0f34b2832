// SPDX-License-Identifier: Apache-2.0
#include <assay/plugin.hpp>

#include <memory>

#include "library_probes.hpp"
#include "override_text.hpp"
#include "probes.hpp"

ASSAY_DIAGNOSTIC_PLUGIN("diag_rocm", "0.1.0", "assay project")(assay::registry& plugin) {
  diag_rocm::add_hardware_probes(plugin);
  diag_rocm::add_library_probes(plugin);
  plugin.add(std::make_unique<diag_rocm::override_in_text>());
}
