// SPDX-License-Identifier: Apache-2.0
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include "host/platform/memory.hpp"

namespace assay::platform {

std::optional<std::uint64_t> available_memory(const std::filesystem::path& /*root*/) {
  MEMORYSTATUSEX status{};
  status.dwLength = sizeof status;
  if (::GlobalMemoryStatusEx(&status) == 0) {
    return std::nullopt;
  }
  return status.ullAvailPhys;
}

}  // namespace assay::platform
