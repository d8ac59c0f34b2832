// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

#include "library_platform.hpp"

namespace diag_rocm::platform {

void set_variable(const std::string& name, const std::string& text) {
  ::setenv(name.c_str(), text.c_str(), 1);
}

bool may_write(const std::filesystem::path& path) { return ::access(path.c_str(), W_OK) == 0; }

std::optional<long> sqlite_lock_holder(const std::filesystem::path& file) {
  // SQLite's file format reserves these bytes for its locks, from the "pending" byte on.
  constexpr off_t pending_byte = 0x40000000;
  constexpr off_t lock_bytes = 512;
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    return std::nullopt;
  }
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = pending_byte;
  lock.l_len = lock_bytes;
  const bool asked = ::fcntl(descriptor, F_GETLK, &lock) == 0;
  ::close(descriptor);
  if (!asked || lock.l_type != F_WRLCK) {
    return std::nullopt;
  }
  return static_cast<long>(lock.l_pid);
}

}  // namespace diag_rocm::platform
