// SPDX-License-Identifier: Apache-2.0
#include "fat_binary.hpp"

#include <algorithm>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "host/common/elf_file.hpp"
#include "tree.hpp"
#include "zstd_stream.hpp"

namespace diag_rocm {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view plain_magic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::string_view compressed_magic = "CCOB";
// What a bundle's table of contents never exceeds, compressed or not.
constexpr std::size_t most_of_table = 64 << 10;
constexpr std::size_t most_compressed = 256 << 10;  // more than one block of zstd
constexpr std::size_t most_bundles = 8192;
constexpr std::size_t most_empty_pages = 1024;
constexpr std::uint64_t most_entries = 256;
constexpr std::uint64_t longest_id = 256;
constexpr std::uint64_t alignment = 4096;  // of bundles in the section

/// A little-endian number; throws where the text ends before.
std::uint64_t number(std::string_view from, std::uint64_t at, unsigned width) {
  if (at > from.size() || width > from.size() - at) {
    throw std::runtime_error("a bundle is cut off");
  }
  std::uint64_t value = 0;
  for (unsigned i = width; i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(from[at + i]);
  }
  return value;
}

/// A part of a file.
class part {
 public:
  part(const fs::path& file, std::uint64_t offset, std::uint64_t size)
      : stream_(file, std::ios::binary), offset_(offset), size_(size) {}

  [[nodiscard]] std::uint64_t size() const { return size_; }

  [[nodiscard]] std::string read(std::uint64_t at, std::uint64_t most) {
    if (at >= size_) {
      return {};
    }
    std::string bytes(std::min(most, size_ - at), '\0');
    stream_.clear();
    stream_.seekg(static_cast<std::streamoff>(offset_ + at));
    stream_.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    bytes.resize(static_cast<std::size_t>(stream_.gcount()));
    return bytes;
  }

 private:
  std::ifstream stream_;
  std::uint64_t offset_, size_;
};

struct bundle_table {
  std::vector<std::string> ids;
  std::uint64_t size = 0;  // of the whole bundle
};

bundle_table read_table(std::string_view bundle) {
  if (!bundle.starts_with(plain_magic)) {
    throw std::runtime_error("what is in .hip_fatbin is no offload bundle");
  }
  std::uint64_t at = plain_magic.size();
  const std::uint64_t count = number(bundle, at, 8);
  at += 8;
  if (count > most_entries) {
    throw std::runtime_error("a bundle's table is damaged");
  }
  bundle_table table;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t offset = number(bundle, at, 8);
    const std::uint64_t size = number(bundle, at + 8, 8);
    const std::uint64_t length = number(bundle, at + 16, 8);
    at += 24;
    if (length > longest_id || at + length > bundle.size()) {
      throw std::runtime_error("a bundle's table is damaged");
    }
    table.ids.emplace_back(bundle.substr(at, length));
    at += length;
    table.size = std::max({table.size, at, offset + size});
  }
  return table;
}

/// Reads one bundle after the other, and opens libzstd when it is first needed.
class bundle_reader {
 public:
  explicit bundle_reader(part& from) : from_(from) {}

  void read_all(fat_binary& found) {
    std::uint64_t at = 0;
    std::size_t empty = 0;
    while (at < from_.size() && found.bundles + found.unread < most_bundles &&
           empty < most_empty_pages) {
      const std::string magic = from_.read(at, plain_magic.size());
      std::uint64_t size = 0;
      if (magic == plain_magic) {
        size = count(read_table(from_.read(at, most_of_table)), found);
      } else if (magic.starts_with(compressed_magic)) {
        size = read_compressed(at, found);
        if (size == 0) {
          return;  // its form does not say where the next begins; all have the same targets
        }
      } else if (magic.find_first_not_of('\0') != std::string::npos) {
        throw std::runtime_error("what is in .hip_fatbin is no offload bundle");
      }
      empty = size == 0 ? empty + 1 : 0;
      at += (std::max<std::uint64_t>(size, 1) + alignment - 1) / alignment * alignment;
    }
  }

 private:
  static std::uint64_t count(const bundle_table& table, fat_binary& found) {
    ++found.bundles;
    for (const std::string& id : table.ids) {
      if (std::string target = bundle_target(id); !target.empty()) {
        ++found.targets[target];
      }
    }
    return table.size;
  }

  std::uint64_t read_compressed(std::uint64_t at, fat_binary& found) {
    const std::string bytes = from_.read(at, most_compressed);
    const std::uint64_t version = number(bytes, 4, 2);
    const std::uint64_t method = number(bytes, 6, 2);
    // 3: total, uncompressed size (8 bytes each), hash; 2: both of 4 bytes; 1: no total.
    const std::uint64_t header = version == 3 ? 32 : version == 2 ? 24 : 20;
    const std::uint64_t size = version == 3   ? number(bytes, 8, 8)
                               : version == 2 ? number(bytes, 8, 4)
                                              : 0;
    try {
      if (version < 1 || version > 3) {
        throw std::runtime_error("compressed bundles of version " + std::to_string(version) +
                                 " are not known here");
      }
      if (method != 1) {
        throw std::runtime_error("bundles are compressed with zlib, which is not read here");
      }
      if (!zstd_) {
        zstd_.emplace();
      }
      const std::string_view payload = std::string_view(bytes).substr(
          header, size > header ? size - header : std::string_view::npos);
      count(read_table(zstd_->beginning_of(payload, most_of_table)), found);
    } catch (const std::runtime_error& error) {
      ++found.unread;
      found.problem = found.problem.empty() ? error.what() : found.problem;
    }
    return size;
  }

  part& from_;
  std::optional<zstd> zstd_{};
};

/// Section `name` of a DLL; nothing where it has none.
std::optional<part> dll_section(const fs::path& file, std::string_view name) {
  constexpr std::uint64_t most_headers = 64 << 10;
  std::ifstream stream(file, std::ios::binary);
  std::string head(most_headers, '\0');
  stream.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(stream.gcount()));
  const std::uint64_t at = number(head, 0x3c, 4);
  if (at > head.size() || head.compare(at, 4, std::string_view("PE\0\0", 4)) != 0) {
    throw std::runtime_error(file.string() + ": is neither an ELF file nor a DLL");
  }
  const std::uint64_t sections = number(head, at + 6, 2);
  const std::uint64_t table = at + 24 + number(head, at + 20, 2);
  for (std::uint64_t i = 0; i < sections; ++i) {
    const std::uint64_t entry = table + i * 40;
    const std::uint64_t size = number(head, entry + 16, 4);
    const std::uint64_t offset = number(head, entry + 20, 4);
    const std::string_view full = std::string_view(head).substr(entry, 8);
    if (full.substr(0, std::min<std::size_t>(full.find('\0'), 8)) == name.substr(0, 8)) {
      return part(file, offset, size);
    }
  }
  return std::nullopt;
}

struct opened {
  std::optional<part> code{};
  bool refers_to_kpack = false;
};

opened open_code(const fs::path& library) {
  opened found;
  std::ifstream stream(library, std::ios::binary);
  char first[2] = {};
  if (stream.read(first, 2) && first[0] == 'M' && first[1] == 'Z') {
    found.code = dll_section(library, ".hip_fatbin");
    found.refers_to_kpack = dll_section(library, ".rocm_kpack_ref").has_value();
    return found;
  }
  const elf::file file(library);
  found.refers_to_kpack = file.find_section(".rocm_kpack_ref") != nullptr;
  if (const elf::section* section = file.find_section(".hip_fatbin")) {
    found.code.emplace(library, section->offset, section->size);
  }
  return found;
}

}  // namespace

std::string bundle_target(std::string_view entry_id) {
  const std::size_t kind = entry_id.find('-');
  if (kind == std::string_view::npos || !entry_id.starts_with("hip")) {
    return {};
  }
  const std::size_t at = std::min(entry_id.rfind("-gfx"), entry_id.rfind("-amdgcnspirv"));
  if (at == std::string_view::npos) {
    return {};
  }
  return std::string(entry_id.substr(at + 1));
}

std::string fat_binary::target_list() const {
  std::string list;
  for (const auto& [target, count] : targets) {
    list += (list.empty() ? "" : ", ") + target;
  }
  return list;
}

fat_binary read_fat_binary(const fs::path& library) {
  fat_binary found;
  opened from = open_code(library);
  found.has_code = from.code.has_value() || from.refers_to_kpack;
  found.elsewhere = from.refers_to_kpack;
  if (from.code && !found.elsewhere) {
    try {
      bundle_reader(*from.code).read_all(found);
    } catch (const std::runtime_error& error) {
      ++found.unread;
      found.problem = error.what();
    }
  }
  return found;
}

std::map<std::string, fs::path> kpack_targets(const fs::path& library) {
  std::map<std::string, fs::path> found;
  const fs::path folder = library.parent_path();
  for (const fs::path& place : {folder / ".kpack", folder.parent_path() / ".kpack"}) {
    for (const fs::path& file : tree::entries(place, "", ".kpack")) {
      const std::string name = file.stem().string();
      const std::size_t at = name.rfind("gfx");
      if (at != std::string::npos) {
        found.emplace(name.substr(at), file);
      }
    }
  }
  return found;
}

}  // namespace diag_rocm
