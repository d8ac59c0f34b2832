// SPDX-License-Identifier: Apache-2.0
#include "library_probes.hpp"

#include <iterator>
#include <utility>

#include "hiprtc_probes.hpp"

namespace diag_rocm {

std::vector<std::unique_ptr<assay::probe>> library_probes() { return hiprtc_probes(); }

void add_library_probes(assay::registry& plugin) {
  for (auto& probe : library_probes()) {
    plugin.add(std::move(probe));
  }
}

}  // namespace diag_rocm
