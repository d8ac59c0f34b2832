// SPDX-License-Identifier: Apache-2.0
#include <windows.h>

#include <cstdlib>

#include "library_platform.hpp"

namespace diag_rocm::platform {

void set_variable(const std::string& name, const std::string& text) {
  // The C library's copy and the system's: libraries read either.
  _putenv_s(name.c_str(), text.c_str());
  SetEnvironmentVariableA(name.c_str(), text.c_str());
}

bool may_write(const std::filesystem::path& path) {
  const bool is_folder = std::filesystem::is_directory(path);
  const HANDLE handle =
      CreateFileW(path.c_str(), is_folder ? FILE_ADD_FILE : GENERIC_WRITE,
                  FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr, OPEN_EXISTING,
                  is_folder ? FILE_FLAG_BACKUP_SEMANTICS : FILE_ATTRIBUTE_NORMAL, nullptr);
  if (handle == INVALID_HANDLE_VALUE) {
    return false;
  }
  CloseHandle(handle);
  return true;
}

std::optional<long> sqlite_lock_holder(const std::filesystem::path&) { return std::nullopt; }

}  // namespace diag_rocm::platform
