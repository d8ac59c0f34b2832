// SPDX-License-Identifier: Apache-2.0
//
// What the standard library lacks, one file for each system.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace probing {

#if defined(_WIN32)
inline constexpr bool is_windows = true;
#else
inline constexpr bool is_windows = false;
#endif

/// The variables of this process.
std::map<std::string, std::string> process_environment();

enum class use { read, write, read_write };
/// Why this process may not use the file so, judged by its rights; empty: it may.
std::string why_not_usable(const std::filesystem::path& path, use as);
/// Why it cannot be opened for reading and writing (containers refuse only then); empty: it can.
std::string why_not_openable(const std::filesystem::path& device);

/// What is in the kernel's log now, its newest part; `why` says why it could not be read.
std::optional<std::string> kernel_log(const std::filesystem::path& device, std::size_t most,
                                      std::string& why);

/// The limit on this process's address space in bytes; none: there is no limit.
std::optional<std::uint64_t> address_space_limit();

/// Version of the C library that this process runs with ("2.36"); empty: it is not glibc.
std::string running_glibc();

/// A shared library of this machine, opened for one probe's time.
class library {
 public:
  explicit library(const std::string& name);
  ~library();
  library(const library&) = delete;
  library& operator=(const library&) = delete;

  [[nodiscard]] bool opened() const { return handle_ != nullptr; }
  [[nodiscard]] const std::string& why_not() const { return why_not_; }
  /// nullptr: it has no such function.
  template <typename function>
  [[nodiscard]] function* find(const char* name) const {
    return reinterpret_cast<function*>(symbol(name));
  }

 private:
  [[nodiscard]] void* symbol(const char* name) const;

  void* handle_ = nullptr;
  std::string why_not_;
};

}  // namespace probing
