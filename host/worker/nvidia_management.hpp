// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

namespace assay::worker {

/// What NVIDIA's management library says of its GPUs at this moment: the members of the record
/// `clocks` in docs/architecture.md. Never throws; what is not answered is null.
nlohmann::json nvidia_clocks();

}  // namespace assay::worker
