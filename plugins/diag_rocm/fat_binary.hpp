// SPDX-License-Identifier: Apache-2.0
//
// Which GPU architectures the code in a library is made for: the offload bundles of its .hip_fatbin
// section, plain or compressed. Only the beginning of each bundle is read.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>

namespace diag_rocm {

struct fat_binary {
  bool has_code = false;                         // there is such a section
  bool elsewhere = false;                        // the code lies in .kpack files
  std::size_t bundles = 0;                       // that could be read
  std::size_t unread = 0;                        // that could not
  std::string problem{};                         // why not
  std::map<std::string, std::size_t> targets{};  // architecture -> bundles that have it

  [[nodiscard]] std::string target_list() const;
};

/// An ELF library, or a DLL. Throws std::runtime_error where it is neither, or damaged.
fat_binary read_fat_binary(const std::filesystem::path& library);

/// "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-" -> "gfx90a:xnack-"; empty for the host's part.
std::string bundle_target(std::string_view entry_id);

/// Architectures that .kpack files beside a library are for, by their names.
std::map<std::string, std::filesystem::path> kpack_targets(const std::filesystem::path& library);

}  // namespace diag_rocm
