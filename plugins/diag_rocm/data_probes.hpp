// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <assay/diagnostics.hpp>
#include <memory>
#include <vector>

#include "environment.hpp"

namespace diag_rocm {

/// rocm.rocblas_data, rocm.hipblaslt_data, rocm.miopen_data.
std::vector<std::unique_ptr<assay::probe>> data_probes(
    const environment_source& source = environment_of);

}  // namespace diag_rocm
