// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <assay/diagnostics.hpp>
#include <memory>

#include "environment.hpp"

namespace diag_rocm {

/// rocm.torch_targets
std::unique_ptr<assay::probe> make_torch_targets(environment_source source = environment_of);

}  // namespace diag_rocm
