// SPDX-License-Identifier: Apache-2.0
#include "library_probes.hpp"

#include <utility>

#include "caches_probe.hpp"
#include "data_probes.hpp"
#include "hiprtc_probes.hpp"
#include "loading_probes.hpp"
#include "torch_targets.hpp"

namespace diag_rocm {

std::vector<std::unique_ptr<assay::probe>> library_probes() {
  auto made = hiprtc_probes();
  for (auto& probe : data_probes()) {
    made.push_back(std::move(probe));
  }
  made.push_back(make_torch_targets());
  made.push_back(make_caches());
  made.push_back(make_libraries());
  made.push_back(make_duplicates());
  return made;
}

void add_library_probes(assay::registry& plugin) {
  for (auto& probe : library_probes()) {
    plugin.add(std::move(probe));
  }
}

}  // namespace diag_rocm
