// SPDX-License-Identifier: Apache-2.0
#include "probes.hpp"

namespace diag_rocm {

std::vector<std::unique_ptr<assay::probe>> hardware_probes() {
  std::vector<std::unique_ptr<assay::probe>> all;
  all.push_back(make_kfd_present());
  all.push_back(make_amdgpu_module());
  all.push_back(make_kfd_access());
  all.push_back(make_container());
  all.push_back(make_override());
  all.push_back(make_visible_devices());
  all.push_back(make_integrated_gpu());
  all.push_back(make_environment());
  all.push_back(make_xnack());
  all.push_back(make_large_bar());
  all.push_back(make_iommu());
  return all;
}

void add_hardware_probes(assay::registry& plugin) {
  for (std::unique_ptr<assay::probe>& each : hardware_probes()) {
    plugin.add(std::move(each));
  }
}

}  // namespace diag_rocm
