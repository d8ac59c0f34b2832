// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace assay::engine {

/// The devices that this LibTorch can use, the CPU first: [{"device","name","architecture"}].
/// `backend_library` is the path of the GPU library that is open, or null. LibTorch has no
/// device-neutral way to ask for names, so the runtime library behind it is asked; what it does
/// not tell is null.
nlohmann::json list_devices(const char* backend_library);

/// "rocm", "cuda" or "cpu", by what the loaded LibTorch says of itself.
const char* build_kind();

}  // namespace assay::engine
