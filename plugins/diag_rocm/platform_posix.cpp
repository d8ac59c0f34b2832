// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "platform.hpp"

namespace diag_rocm::platform {

std::optional<owner> owner_of(const std::filesystem::path& file) {
  struct ::stat found {};
  if (::stat(file.c_str(), &found) != 0) {
    return std::nullopt;
  }
  constexpr unsigned permission_bits = 0777;
  return owner{found.st_mode & permission_bits, found.st_uid, found.st_gid};
}

std::string try_to_open(const std::filesystem::path& device) {
  const int descriptor = ::open(device.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (descriptor >= 0) {
    ::close(descriptor);
    return {};
  }
  switch (errno) {
    case ENOENT:
      return "ENOENT";
    case EACCES:
      return "EACCES";
    case EPERM:
      return "EPERM";
    case EBUSY:
      return "EBUSY";
    case ENODEV:
      return "ENODEV";
    case ENXIO:
      return "ENXIO";
    default:
      return "error " + std::to_string(errno);
  }
}

}  // namespace diag_rocm::platform
