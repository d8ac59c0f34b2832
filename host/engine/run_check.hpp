// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "engine_api.h"

namespace assay::engine {

/// Runs one check from its libraries to its last timed call; never throws. Answers the members of
/// a result that docs/results-format.md marks "engine".
nlohmann::json run_check(const assay_engine_job& job);

/// Opens the plugin's operator libraries, each once in this process. Throws std::runtime_error.
void open_libraries(const assay_engine_job& job);

}  // namespace assay::engine
