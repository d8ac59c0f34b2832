// SPDX-License-Identifier: Apache-2.0
//
// The questions about NVIDIA's GPUs. "yes" is always the good answer.
#pragma once

#include <assay/diagnostics.hpp>

#include <memory>
#include <vector>

namespace diag_cuda {

assay::probe_answer look_at_devices(const assay::probe_site& site);
assay::probe_answer look_at_driver(const assay::probe_site& site);
assay::probe_answer look_at_capability(const assay::probe_site& site);
assay::probe_answer look_at_environment(const assay::probe_site& site);
assay::probe_answer look_at_hints(const assay::probe_site& site);
assay::probe_answer look_at_kernel_log(const assay::probe_site& site);

std::vector<std::unique_ptr<assay::probe>> all_probes();

}  // namespace diag_cuda
