// SPDX-License-Identifier: Apache-2.0
#include "host/common/elf_file.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

namespace elf {
namespace {

// Far above what any library has; what lies beyond is damage.
constexpr std::uint64_t most_segments = 1024;
constexpr std::uint64_t most_sections = 100000;
constexpr std::uint64_t most_dynamic_entries = 16384;
constexpr std::uint64_t most_versions = 16384;
constexpr std::uint64_t most_name_bytes = 64 << 20;
constexpr std::size_t longest_name = 4096;

constexpr std::uint32_t pt_load = 1;
constexpr std::uint32_t pt_dynamic = 2;
constexpr std::uint32_t pt_gnu_stack = 0x6474e551;
constexpr std::uint32_t pf_x = 1;
constexpr std::uint32_t sht_nobits = 8;
constexpr std::uint32_t sht_dynsym = 11;
constexpr std::uint64_t most_symbols = 4 << 20;

enum dynamic_tag : std::uint64_t {
  dt_null = 0,
  dt_needed = 1,
  dt_strtab = 5,
  dt_soname = 14,
  dt_rpath = 15,
  dt_runpath = 29,
  dt_verdef = 0x6ffffffc,
  dt_verdefnum = 0x6ffffffd,
  dt_verneed = 0x6ffffffe,
  dt_verneednum = 0x6fffffff
};

/// A little-endian number of `width` bytes; the caller has made sure that they are there.
std::uint64_t number(const std::string& from, std::size_t at, std::size_t width) {
  std::uint64_t value = 0;
  for (std::size_t i = width; i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(from[at + i]);
  }
  return value;
}

std::uint16_t u16(const std::string& from, std::size_t at) {
  return static_cast<std::uint16_t>(number(from, at, 2));
}
std::uint32_t u32(const std::string& from, std::size_t at) {
  return static_cast<std::uint32_t>(number(from, at, 4));
}
std::uint64_t u64(const std::string& from, std::size_t at) { return number(from, at, 8); }

}  // namespace

file::file(std::filesystem::path path) : path_(std::move(path)) {
  std::error_code code;
  // A device or a pipe by this name must not be waited for.
  if (!std::filesystem::is_regular_file(path_, code)) {
    fail(code ? code.message() : "is not a regular file");
  }
  size_ = std::filesystem::file_size(path_, code);
  stream_.open(path_, std::ios::binary);
  if (code || !stream_) {
    fail("cannot be read");
  }
  if (size_ < 20 || bytes(0, 4) !=
                        "\x7f"
                        "ELF") {
    fail("is not an ELF file");
  }
  const std::string ident = bytes(4, 2);
  if (ident[0] != 2 || ident[1] != 1) {
    throw foreign(path_.string() + ": is not for a 64-bit little-endian machine");
  }
  const std::string head = bytes(0, 64);
  machine_ = u16(head, 18);
  const std::uint64_t segment_table = u64(head, 32);
  const std::uint64_t section_table = u64(head, 40);
  const std::uint16_t segment_size = u16(head, 54);
  const std::uint16_t segment_count = u16(head, 56);

  std::uint64_t dynamic_offset = 0;
  std::uint64_t dynamic_size = 0;
  if (segment_count > 0) {
    if (segment_size != 56 || segment_count > most_segments) {
      fail("has a damaged program header table");
    }
    const std::string table = bytes(segment_table, std::uint64_t{segment_size} * segment_count);
    for (std::size_t i = 0; i < segment_count; ++i) {
      const std::size_t at = i * segment_size;
      const std::uint32_t type = u32(table, at);
      const segment found{u64(table, at + 8), u64(table, at + 16), u64(table, at + 32)};
      if (type == pt_load) {
        segments_.push_back(found);
      } else if (type == pt_dynamic) {
        dynamic_offset = found.offset;
        dynamic_size = found.file_size;
      } else if (type == pt_gnu_stack) {
        executable_stack_ = (u32(table, at + 4) & pf_x) != 0;
      }
    }
  }
  if (section_table != 0) {
    read_sections(section_table, u16(head, 58), u16(head, 60), u16(head, 62));
  }
  if (dynamic_size > 0) {
    read_dynamic(dynamic_offset, dynamic_size);
  }
}

const section* file::find_section(std::string_view name) const {
  const auto found = std::find_if(sections_.begin(), sections_.end(),
                                  [&](const section& one) { return one.name == name; });
  return found == sections_.end() ? nullptr : &*found;
}

std::vector<symbol> file::dynamic_symbols() const {
  std::vector<symbol> symbols;
  for (const section& table : sections_) {
    if (table.type != sht_dynsym) {
      continue;
    }
    if (table.link >= sections_.size() || table.size / 24 > most_symbols) {
      fail("has a damaged symbol table");
    }
    const section& names = sections_[table.link];
    if (names.size > most_name_bytes) {
      fail("has a damaged symbol table");
    }
    const std::string all_names = bytes(names.offset, names.size);
    const std::string entries = bytes(table.offset, table.size / 24 * 24);
    for (std::size_t at = 0; at < entries.size(); at += 24) {
      const std::uint32_t name = u32(entries, at);
      const unsigned binding = static_cast<unsigned char>(entries[at + 4]) >> 4U;
      const unsigned visibility = static_cast<unsigned char>(entries[at + 5]) & 3U;
      constexpr unsigned is_local = 0;
      constexpr unsigned is_internal = 1;
      constexpr unsigned is_hidden = 2;
      if (binding != is_local && visibility != is_internal && visibility != is_hidden &&
          name < all_names.size()) {
        symbols.push_back(
            {all_names.substr(name, all_names.find('\0', name) - name), u16(entries, at + 6) != 0});
      }
    }
  }
  return symbols;
}

std::string file::read(const section& from, std::uint64_t offset, std::size_t most) const {
  if (from.type == sht_nobits || offset >= from.size) {
    return {};
  }
  return bytes(from.offset + offset, std::min<std::uint64_t>(most, from.size - offset));
}

void file::fail(const std::string& what) const { throw error(path_.string() + ": " + what); }

std::string file::bytes(std::uint64_t offset, std::uint64_t count) const {
  if (offset > size_ || count > size_ - offset) {
    fail("is cut off or damaged: it refers to bytes behind its end");
  }
  std::string read(count, '\0');
  stream_.clear();
  stream_.seekg(static_cast<std::streamoff>(offset));
  if (!stream_.read(read.data(), static_cast<std::streamsize>(count))) {
    fail("cannot be read");
  }
  return read;
}

std::string file::text(std::uint64_t offset) const {
  if (offset >= size_) {
    fail("is damaged: it refers to a name behind its end");
  }
  std::string read;
  while (read.size() < longest_name) {
    const std::uint64_t from = offset + read.size();
    const std::string piece = bytes(from, std::min<std::uint64_t>(128, size_ - from));
    const std::size_t end = piece.find('\0');
    read += piece.substr(0, end);
    if (end != std::string::npos) {
      return read;
    }
    if (piece.size() < 128) {
      break;
    }
  }
  fail("is damaged: it holds a name without an end");
}

std::uint64_t file::offset_of(std::uint64_t address) const {
  for (const segment& one : segments_) {
    if (address >= one.address && address - one.address < one.file_size) {
      return one.offset + (address - one.address);
    }
  }
  fail("is damaged: its dynamic section refers to an address that no segment holds");
}

void file::read_sections(std::uint64_t table, std::uint16_t entry_size, std::uint64_t count,
                         std::uint64_t names_index) {
  if (entry_size != 64) {
    fail("has a damaged section header table");
  }
  if (count == 0 || names_index == 0xffff) {
    // More than the header's 16 bits hold: the first entry says how many.
    const std::string first = bytes(table, entry_size);
    count = count == 0 ? u64(first, 32) : count;
    names_index = names_index == 0xffff ? u32(first, 40) : names_index;
  }
  if (count == 0) {
    return;
  }
  if (count > most_sections || names_index >= count) {
    fail("has a damaged section header table");
  }
  const std::string entries = bytes(table, count * entry_size);
  const std::size_t names_at = names_index * entry_size;
  const section names{{}, 0, u64(entries, names_at + 24), u64(entries, names_at + 32)};
  if (names.size > most_name_bytes) {
    fail("has a damaged section header table");
  }
  const std::string all_names = bytes(names.offset, names.size);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = i * entry_size;
    const std::uint32_t name = u32(entries, at);
    section one;
    if (name < all_names.size()) {
      one.name = all_names.substr(name, all_names.find('\0', name) - name);
    }
    one.type = u32(entries, at + 4);
    one.offset = u64(entries, at + 24);
    one.size = u64(entries, at + 32);
    one.link = u32(entries, at + 40);
    sections_.push_back(std::move(one));
  }
}

void file::read_dynamic(std::uint64_t offset, std::uint64_t size) {
  const std::uint64_t count = size / 16;
  if (count > most_dynamic_entries) {
    fail("has a damaged dynamic section");
  }
  const std::string entries = bytes(offset, count * 16);
  std::uint64_t strings = 0;
  std::uint64_t need_at = 0;
  std::uint64_t need_count = 0;
  std::uint64_t definition_at = 0;
  std::uint64_t definition_count = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> names;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t tag = u64(entries, i * 16);
    const std::uint64_t value = u64(entries, i * 16 + 8);
    if (tag == dt_null) {
      break;
    }
    switch (tag) {
      case dt_strtab:
        strings = value;
        break;
      case dt_verneed:
        need_at = value;
        break;
      case dt_verneednum:
        need_count = value;
        break;
      case dt_verdef:
        definition_at = value;
        break;
      case dt_verdefnum:
        definition_count = value;
        break;
      case dt_needed:
      case dt_soname:
      case dt_rpath:
      case dt_runpath:
        names.emplace_back(tag, value);
        break;
      default:
        break;
    }
  }
  if (strings == 0) {
    return;
  }
  const std::uint64_t strings_at = offset_of(strings);
  for (const auto& [tag, value] : names) {
    std::string name = text(strings_at + value);
    switch (tag) {
      case dt_needed:
        needed_.push_back(std::move(name));
        break;
      case dt_soname:
        soname_ = std::move(name);
        break;
      case dt_rpath:
        rpath_ = std::move(name);
        break;
      default:
        runpath_ = std::move(name);
        break;
    }
  }
  if (need_at != 0) {
    read_version_needs(offset_of(need_at), need_count, strings_at);
  }
  if (definition_at != 0) {
    read_version_definitions(offset_of(definition_at), definition_count, strings_at);
  }
}

void file::read_version_needs(std::uint64_t offset, std::uint64_t count, std::uint64_t strings) {
  std::uint64_t total = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string need = bytes(offset, 16);
    version_need one{text(strings + u32(need, 4)), {}};
    std::uint64_t at = offset + u32(need, 8);
    const std::uint16_t versions = u16(need, 2);
    for (std::uint16_t j = 0; j < versions; ++j) {
      if (++total > most_versions) {
        fail("has damaged symbol versions");
      }
      const std::string version = bytes(at, 16);
      one.versions.push_back(text(strings + u32(version, 8)));
      const std::uint32_t next = u32(version, 12);
      if (next == 0) {
        break;
      }
      at += next;
    }
    version_needs_.push_back(std::move(one));
    const std::uint32_t next = u32(need, 12);
    if (next == 0) {
      break;
    }
    if (++total > most_versions) {
      fail("has damaged symbol versions");
    }
    offset += next;
  }
}

void file::read_version_definitions(std::uint64_t offset, std::uint64_t count,
                                    std::uint64_t strings) {
  for (std::uint64_t i = 0; i < count; ++i) {
    if (i > most_versions) {
      fail("has damaged symbol versions");
    }
    const std::string definition = bytes(offset, 20);
    // The first is the file's own name (flag VER_FLG_BASE), not a version.
    if ((u16(definition, 2) & 1U) == 0 && u16(definition, 6) > 0) {
      const std::string name = bytes(offset + u32(definition, 12), 8);
      version_definitions_.push_back(text(strings + u32(name, 0)));
    }
    const std::uint32_t next = u32(definition, 16);
    if (next == 0) {
      break;
    }
    offset += next;
  }
}

}  // namespace elf
