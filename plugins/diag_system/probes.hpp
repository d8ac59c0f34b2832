// SPDX-License-Identifier: Apache-2.0
//
// Questions about the system under LibTorch. "yes" is always the good answer.
#pragma once

#include <assay/diagnostics.hpp>

#include <memory>
#include <vector>

namespace diag_system {

assay::probe_answer look_at_glibc(const assay::probe_site& site);
assay::probe_answer look_at_libstdcxx(const assay::probe_site& site);
assay::probe_answer look_at_linker(const assay::probe_site& site);
assay::probe_answer look_at_disk(const assay::probe_site& site);
assay::probe_answer look_at_shared_memory(const assay::probe_site& site);
assay::probe_answer look_at_memory(const assay::probe_site& site);
assay::probe_answer look_at_selinux(const assay::probe_site& site);

std::vector<std::unique_ptr<assay::probe>> all_probes();

}  // namespace diag_system
