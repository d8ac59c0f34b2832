// SPDX-License-Identifier: Apache-2.0
//
// The probes of this plugin. Each is made by a function, so that tests can have one alone.
#pragma once

#include <assay/diagnostics.hpp>
#include <assay/registry.hpp>

#include <memory>
#include <vector>

#include "environment.hpp"

namespace diag_rocm {

// ---- hardware and environment

[[nodiscard]] std::unique_ptr<assay::probe> make_kfd_present();
[[nodiscard]] std::unique_ptr<assay::probe> make_amdgpu_module();
[[nodiscard]] std::unique_ptr<assay::probe> make_kfd_access();
[[nodiscard]] std::unique_ptr<assay::probe> make_container(
    environment_source variables = environment_of);
[[nodiscard]] std::unique_ptr<assay::probe> make_override(
    environment_source variables = environment_of);
[[nodiscard]] std::unique_ptr<assay::probe> make_visible_devices(
    environment_source variables = environment_of);
[[nodiscard]] std::unique_ptr<assay::probe> make_integrated_gpu(
    environment_source variables = environment_of);
[[nodiscard]] std::unique_ptr<assay::probe> make_environment(
    environment_source variables = environment_of);
[[nodiscard]] std::unique_ptr<assay::probe> make_xnack(
    environment_source variables = environment_of);
[[nodiscard]] std::unique_ptr<assay::probe> make_large_bar();
[[nodiscard]] std::unique_ptr<assay::probe> make_iommu();

/// All of the above.
[[nodiscard]] std::vector<std::unique_ptr<assay::probe>> hardware_probes();
void add_hardware_probes(assay::registry& plugin);

}  // namespace diag_rocm
