// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <assay/diagnostics.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "environment.hpp"

namespace diag_rocm {

/// The targets that LibTorch's HIP library has code for; none where that is not known whole.
std::optional<std::vector<std::string>> code_targets_of_torch(const assay::probe_site& site);

/// rocm.torch_targets
std::unique_ptr<assay::probe> make_torch_targets(environment_source source = environment_of);

}  // namespace diag_rocm
