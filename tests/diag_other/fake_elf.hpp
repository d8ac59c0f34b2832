// SPDX-License-Identifier: Apache-2.0
//
// Writes small ELF files: as much of one as the loader looks at before it maps it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace test {

struct fake_elf {
  std::uint16_t machine = 62;
  std::string soname{}, rpath{}, runpath{};
  std::vector<std::string> needed{};
  std::vector<std::pair<std::string, std::vector<std::string>>> version_needs{};
  std::vector<std::string> version_definitions{};
  std::vector<std::pair<std::string, std::string>> sections{};  // name, content

  [[nodiscard]] std::string build() const;
  void write(const std::filesystem::path& to) const {
    std::filesystem::create_directories(to.parent_path());
    std::ofstream(to, std::ios::binary) << build();
  }
};

inline void put(std::string& to, std::uint64_t value, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i) {
    to += i < 8 ? static_cast<char>(value >> (8 * i) & 0xff) : '\0';
  }
}

class string_table {
 public:
  std::uint64_t add(const std::string& text) {
    const std::uint64_t at = bytes_.size();
    bytes_ += text + '\0';
    return at;
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_ = std::string(1, '\0');
};

inline std::string fake_elf::build() const {
  // One segment that maps the file to an address other than 0, as a patched library has it.
  constexpr std::uint64_t base = 0x200000;
  string_table names;
  std::string needs;
  for (std::size_t i = 0; i < version_needs.size(); ++i) {
    const auto& [library, versions] = version_needs[i];
    const std::uint64_t length = 16 + 16 * versions.size();
    put(needs, 1, 2);
    put(needs, versions.size(), 2);
    put(needs, names.add(library), 4);
    put(needs, 16, 4);
    put(needs, i + 1 < version_needs.size() ? length : 0, 4);
    for (std::size_t j = 0; j < versions.size(); ++j) {
      put(needs, 0, 4);
      put(needs, 0, 2);
      put(needs, j + 2, 2);
      put(needs, names.add(versions[j]), 4);
      put(needs, j + 1 < versions.size() ? 16 : 0, 4);
    }
  }
  std::string definitions;
  for (std::size_t i = 0; i <= version_definitions.size() && !version_definitions.empty(); ++i) {
    put(definitions, 1, 2);
    put(definitions, i == 0 ? 1 : 0, 2);  // VER_FLG_BASE: the file's own name
    put(definitions, i + 1, 2);
    put(definitions, 1, 2);
    put(definitions, 0, 4);
    put(definitions, 20, 4);
    put(definitions, i < version_definitions.size() ? 28 : 0, 4);
    put(definitions, names.add(i == 0 ? soname : version_definitions[i - 1]), 4);
    put(definitions, 0, 4);
  }

  std::vector<std::pair<std::uint64_t, std::uint64_t>> dynamic;
  for (const std::string& one : needed) {
    dynamic.emplace_back(1, names.add(one));
  }
  for (const auto& [tag, value] : {std::pair{14, &soname}, {15, &rpath}, {29, &runpath}}) {
    if (!value->empty()) {
      dynamic.emplace_back(tag, names.add(*value));
    }
  }
  const std::uint64_t strings_at = 64 + 2 * 56;
  const std::uint64_t needs_at = strings_at + names.bytes().size();
  const std::uint64_t definitions_at = needs_at + needs.size();
  dynamic.emplace_back(5, base + strings_at);
  if (!needs.empty()) {
    dynamic.emplace_back(0x6ffffffe, base + needs_at);
    dynamic.emplace_back(0x6fffffff, version_needs.size());
  }
  if (!definitions.empty()) {
    dynamic.emplace_back(0x6ffffffc, base + definitions_at);
    dynamic.emplace_back(0x6ffffffd, version_definitions.size() + 1);
  }
  dynamic.emplace_back(0, 0);
  const std::uint64_t dynamic_at = definitions_at + definitions.size();
  const std::uint64_t dynamic_size = dynamic.size() * 16;

  string_table section_names;
  std::string contents;
  std::string headers(64, '\0');
  const auto add_section = [&](const std::string& name, std::uint32_t type,
                               const std::string& content) {
    put(headers, section_names.add(name), 4);
    put(headers, type, 4);
    put(headers, 0, 16);
    put(headers, dynamic_at + dynamic_size + contents.size(), 8);
    put(headers, content.size(), 8);
    put(headers, 0, 24);
    contents += content;
  };
  for (const auto& [name, content] : sections) {
    add_section(name, 1, content);
  }
  section_names.add(".shstrtab");
  string_table complete = section_names;
  add_section(".shstrtab", 3, complete.bytes() + std::string(".shstrtab") + '\0');

  std::string file(
      "\x7f"
      "ELF\x02\x01\x01",
      7);
  file.resize(16, '\0');
  put(file, 3, 2);
  put(file, machine, 2);
  put(file, 1, 4);
  put(file, 0, 8);
  put(file, 64, 8);
  put(file, dynamic_at + dynamic_size + contents.size(), 8);
  put(file, 0, 4);
  put(file, 64, 2);
  put(file, 56, 2);
  put(file, 2, 2);
  put(file, 64, 2);
  put(file, sections.size() + 2, 2);
  put(file, sections.size() + 1, 2);
  for (const auto& [type, offset, size] :
       {std::tuple{1, std::uint64_t{0}, dynamic_at + dynamic_size},
        {2, dynamic_at, dynamic_size}}) {
    put(file, type, 4);
    put(file, 6, 4);
    put(file, offset, 8);
    put(file, base + offset, 8);
    put(file, base + offset, 8);
    put(file, size, 8);
    put(file, size, 8);
    put(file, 8, 8);
  }
  file += names.bytes() + needs + definitions;
  for (const auto& [tag, value] : dynamic) {
    put(file, tag, 8);
    put(file, value, 8);
  }
  return file + contents + headers;
}

}  // namespace test
