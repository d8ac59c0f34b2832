// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace assay::platform {

/// Bytes of main memory that a program could still take: what the system calls available, or what
/// is left of this process's control group, whichever is less. Nothing where it cannot be asked.
/// `root`: the file system to read (Linux).
[[nodiscard]] std::optional<std::uint64_t> available_memory(
    const std::filesystem::path& root = "/");

}  // namespace assay::platform
