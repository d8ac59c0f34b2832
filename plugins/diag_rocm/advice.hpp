// SPDX-License-Identifier: Apache-2.0
//
// What a probe advises for the machine that it looked at: steps, one a line, commands after "$ ".
#pragma once

#include <assay/diagnostics.hpp>

#include <string>
#include <vector>

#include "environment.hpp"
#include "gpu_target.hpp"
#include "machine.hpp"

namespace diag_rocm {

/// "$ export NAME=VALUE", or what the shells of Windows have for it.
[[nodiscard]] std::string setting_step(system_kind system, const std::string& name,
                                       const std::string& value);
/// "$ unset NAME ...".
[[nodiscard]] std::string unsetting_steps(system_kind system,
                                          const std::vector<std::string>& names);

/// GPUs as HIP_VISIBLE_DEVICES counts them: what ROCR_VISIBLE_DEVICES left, whatever it is itself.
[[nodiscard]] std::vector<gpu> gpus_that_hip_counts(const std::vector<gpu>& gpus,
                                                    const environment& variables,
                                                    system_kind system);
/// "0 is gfx1036 (AMD Radeon Graphics), 1 to 4 are gfx1100".
[[nodiscard]] std::string numbers_of(const std::vector<gpu>& counted);
/// Their numbers among those that HIP counts: "1,2".
[[nodiscard]] std::string numbers_for(const std::vector<int>& nodes,
                                      const std::vector<gpu>& counted);

/// Where some GPUs have what they need and others lack it: hides a processor's own GPU, or lends
/// the lacking one the code of a near relation (HSA_OVERRIDE_GFX_VERSION), where that is there.
/// Empty where neither is valid and safe.
[[nodiscard]] std::string advice_on_lack(const assay::probe_site& site,
                                         const environment& variables,
                                         const std::vector<gpu_target>& lacking,
                                         const std::vector<gpu_target>& served);

}  // namespace diag_rocm
