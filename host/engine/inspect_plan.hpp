// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "engine_api.h"

namespace assay::engine {

/// Goes through a check's calls without taking times: what binds, what fits, and which tensors each
/// call reads and returns. On the device "meta" no tensor has data, so that sizes that no machine
/// holds can be tried. Never throws; the members are those of assay_engine::inspect.
nlohmann::json inspect_plan(const assay_engine_job& job);

/// Every operator that is registered now, "aten::add.Tensor".
nlohmann::json operator_names();

}  // namespace assay::engine
