// SPDX-License-Identifier: Apache-2.0
#include "common/platform.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>
#if defined(__GLIBC__)
#include <gnu/libc-version.h>
#endif

#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>

extern char** environ;

namespace probing {
namespace {

std::string error_text(int code) { return std::generic_category().message(code); }

class descriptor {
 public:
  descriptor(const std::filesystem::path& path, int flags)
      : number_(::open(path.c_str(), flags | O_CLOEXEC)) {}
  ~descriptor() {
    if (number_ >= 0) {
      ::close(number_);
    }
  }
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

}  // namespace

std::map<std::string, std::string> process_environment() {
  std::map<std::string, std::string> found;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos) {
      found.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  return found;
}

std::string why_not_usable(const std::filesystem::path& path, use as) {
  const int mode = as == use::read ? R_OK : as == use::write ? W_OK : R_OK | W_OK;
  return ::faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS) == 0 ? "" : error_text(errno);
}

std::string why_not_openable(const std::filesystem::path& device) {
  const descriptor opened(device, O_RDWR);
  return opened.number() >= 0 ? "" : error_text(errno);
}

std::optional<std::string> kernel_log(const std::filesystem::path& device, std::size_t most,
                                      std::string& why) {
  const descriptor opened(device, O_RDONLY | O_NONBLOCK);
  if (opened.number() < 0) {
    why = error_text(errno);
    return std::nullopt;
  }
  // One record a read; records that were overwritten meanwhile answer EPIPE, the end EAGAIN.
  std::string log;
  std::array<char, 16384> record{};
  for (int records = 0; records < 200000; ++records) {
    const ssize_t got = ::read(opened.number(), record.data(), record.size());
    if (got > 0) {
      log.append(record.data(), static_cast<std::size_t>(got));
      if (log.size() > 2 * most) {
        log.erase(0, log.size() - most);
      }
    } else if (got == 0 || (errno != EPIPE && errno != EINTR)) {
      if (got < 0 && errno != EAGAIN && log.empty()) {
        why = error_text(errno);
        return std::nullopt;
      }
      break;
    }
  }
  return log;
}

std::optional<std::uint64_t> address_space_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return std::nullopt;
  }
  return limit.rlim_cur;
}

std::string running_glibc() {
#if defined(__GLIBC__)
  return ::gnu_get_libc_version();
#else
  return "";
#endif
}

library::library(const std::string& name) : handle_(::dlopen(name.c_str(), RTLD_NOW)) {
  if (handle_ == nullptr) {
    const char* reason = ::dlerror();
    why_not_ = reason != nullptr ? reason : "it cannot be opened";
  }
}

// Drivers do not survive being unmapped; the process ends with the probe.
library::~library() = default;

void* library::symbol(const char* name) const {
  return handle_ == nullptr ? nullptr : ::dlsym(handle_, name);
}

}  // namespace probing
