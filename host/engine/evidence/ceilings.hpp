// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Device.h>

#include <nlohmann/json_fwd.hpp>

namespace assay::engine {

/// What this device reaches through LibTorch: memory bandwidth, matrix rates, the cost of a launch.
/// The members of a `ceilings` line that docs/evidence-format.md lists, but for those of the host.
/// Takes about a second on a fast GPU, and the memory of two 1 GiB tensors where there is that
/// much. Throws what LibTorch throws where nothing at all can be measured.
nlohmann::json measure_ceilings(const c10::Device& device);

}  // namespace assay::engine
