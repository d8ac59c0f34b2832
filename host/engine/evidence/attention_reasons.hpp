// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "bind.hpp"

namespace assay::engine {

/// LibTorch's own words on why no fused attention was possible, in the order in which it gives
/// them: a heading for each kernel, which ends in a colon, and its reasons. Empty: it gives none.
nlohmann::json attention_reasons(bound_plan& plan);

}  // namespace assay::engine
