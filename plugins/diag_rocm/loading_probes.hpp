// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <assay/diagnostics.hpp>
#include <memory>

#include "environment.hpp"

namespace diag_rocm {

/// rocm.libraries
std::unique_ptr<assay::probe> make_libraries(environment_source source = environment_of);
/// rocm.duplicates
std::unique_ptr<assay::probe> make_duplicates(environment_source source = environment_of);

}  // namespace diag_rocm
