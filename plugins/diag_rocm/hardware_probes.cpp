// SPDX-License-Identifier: Apache-2.0
#include "probes.hpp"

namespace diag_rocm {

void add_hardware_probes(assay::registry& plugin) {
  plugin.add(make_kfd_present());
  plugin.add(make_amdgpu_module());
  plugin.add(make_kfd_access());
  plugin.add(make_container());
  plugin.add(make_override());
  plugin.add(make_visible_devices());
  plugin.add(make_integrated_gpu());
  plugin.add(make_environment());
  plugin.add(make_xnack());
  plugin.add(make_large_bar());
  plugin.add(make_iommu());
}

}  // namespace diag_rocm
