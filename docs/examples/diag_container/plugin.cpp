// SPDX-License-Identifier: Apache-2.0
//
// A diagnostic plugin kept outside assay: what Docker, Podman and NVIDIA's toolkit say when a
// container cannot have its GPU. rules/ holds what is known by its text alone.
#include "probes.hpp"

ASSAY_DIAGNOSTIC_PLUGIN("com.example.diag_container", "1.0", "Example Ltd")
(assay::registry& plugin) {
  plugin.add(container::make_inside());
  plugin.add(container::make_devices());
  plugin.add(container::make_nvidia_toolkit());
  plugin.add(container::make_driver_capabilities());
  plugin.add(container::make_missing_device());
}
