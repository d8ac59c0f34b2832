// SPDX-License-Identifier: Apache-2.0
//
// The operating-system calls of the library probes, one file a system.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace diag_rocm::platform {

/// Sets a variable of this process, for libraries that it loads later.
void set_variable(const std::string& name, const std::string& text);

/// Whether this process may make files in a folder, or write to a file; nothing is written.
bool may_write(const std::filesystem::path& path);

/// The process that holds a lock that would keep SQLite from writing this file; nothing: none does,
/// or it cannot be seen.
std::optional<long> sqlite_lock_holder(const std::filesystem::path& file);

}  // namespace diag_rocm::platform
