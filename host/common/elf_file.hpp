// SPDX-License-Identifier: Apache-2.0
//
// What an ELF file says of itself: the libraries and symbol versions that it needs, and its
// sections. Only headers are read, never the whole file, and every count in them is bounded, so
// that a damaged file ends in an elf::error and not in a long wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace elf {

/// what() is one line with the path and what is wrong.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The file is sound, but not for a 64-bit little-endian machine; the loader would skip it, too.
class foreign : public error {
 public:
  using error::error;
};

inline constexpr std::uint16_t machine_x86_64 = 62;
inline constexpr std::uint16_t machine_aarch64 = 183;

struct section {
  std::string name;
  std::uint32_t type = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint32_t link = 0;  // of a symbol table: position of the section with its names
};

/// A symbol that other files can see.
struct symbol {
  std::string name;
  bool defined = false;
};

/// Versions that the file needs of one library: {"libc.so.6", {"GLIBC_2.34", ...}}.
struct version_need {
  std::string library;
  std::vector<std::string> versions;
};

class file {
 public:
  explicit file(std::filesystem::path path);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::uint16_t machine() const { return machine_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }

  [[nodiscard]] const std::vector<std::string>& needed() const { return needed_; }  // DT_NEEDED
  [[nodiscard]] const std::string& soname() const { return soname_; }
  /// As they stand in the file ("$ORIGIN/../lib:..."); empty where there is none.
  [[nodiscard]] const std::string& rpath() const { return rpath_; }
  [[nodiscard]] const std::string& runpath() const { return runpath_; }
  [[nodiscard]] const std::vector<version_need>& version_needs() const { return version_needs_; }
  /// Versions that the file offers ("GLIBCXX_3.4.30").
  [[nodiscard]] const std::vector<std::string>& version_definitions() const {
    return version_definitions_;
  }

  [[nodiscard]] const std::vector<section>& sections() const { return sections_; }
  [[nodiscard]] const section* find_section(std::string_view name) const;  // nullptr: none
  /// The dynamic symbols that are neither local nor hidden.
  [[nodiscard]] std::vector<symbol> dynamic_symbols() const;
  /// It asks for a stack on which code may run, as also a file does that says nothing of it.
  [[nodiscard]] bool wants_executable_stack() const { return executable_stack_; }
  /// At most `most` bytes of a section from `offset` on; fewer where it ends.
  [[nodiscard]] std::string read(const section& from, std::uint64_t offset, std::size_t most) const;

 private:
  struct segment {
    std::uint64_t offset, address, file_size;
  };

  [[noreturn]] void fail(const std::string& what) const;
  [[nodiscard]] std::string bytes(std::uint64_t offset, std::uint64_t count) const;
  [[nodiscard]] std::string text(std::uint64_t offset) const;
  [[nodiscard]] std::uint64_t offset_of(std::uint64_t address) const;
  void read_sections(std::uint64_t table, std::uint16_t entry_size, std::uint64_t count,
                     std::uint64_t names_index);
  void read_dynamic(std::uint64_t offset, std::uint64_t size);
  void read_version_needs(std::uint64_t offset, std::uint64_t count, std::uint64_t strings);
  void read_version_definitions(std::uint64_t offset, std::uint64_t count, std::uint64_t strings);

  std::filesystem::path path_;
  mutable std::ifstream stream_;
  std::uint64_t size_ = 0;
  std::uint16_t machine_ = 0;
  bool executable_stack_ = true;
  std::vector<segment> segments_;
  std::vector<section> sections_;
  std::vector<std::string> needed_;
  std::string soname_, rpath_, runpath_;
  std::vector<version_need> version_needs_;
  std::vector<std::string> version_definitions_;
};

}  // namespace elf
