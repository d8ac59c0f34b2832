// SPDX-License-Identifier: Apache-2.0
//
// The few calls of the operating system that the standard library lacks: one file a system.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace diag_rocm::platform {

struct owner {
  unsigned mode = 0;  // permission bits
  unsigned user = 0, group = 0;
};

/// Who owns a file; nothing where it is absent or this system has no such owners.
[[nodiscard]] std::optional<owner> owner_of(const std::filesystem::path& file);

/// Opens a device for reading and writing, and closes it again. Empty when that went well, else the
/// error's name: "EACCES".
[[nodiscard]] std::string try_to_open(const std::filesystem::path& device);

}  // namespace diag_rocm::platform
