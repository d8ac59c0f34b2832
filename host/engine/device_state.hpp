// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

namespace assay::engine {

/// What checks may require of a device: `free_bytes`, or, with an assay_dtype other than 0, `adds`:
/// whether it adds two tensors of one element. What was not asked or is not known is null; `why`
/// not, or why it cannot add. `backend_library`: as for list_devices().
nlohmann::json device_state(const char* backend_library, const char* device, std::int32_t dtype);

}  // namespace assay::engine
