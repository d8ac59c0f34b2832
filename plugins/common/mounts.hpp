// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace probing {

/// A line of /proc/mounts.
struct mount {
  std::string point;
  std::string type;     // "ext4", "nfs4", "tmpfs"
  std::string options;  // "rw,nosuid,size=65536k"
  std::string line;

  [[nodiscard]] bool has(std::string_view option) const;
  /// "size=65536k", in bytes; none: it has no such option, or it is a share of the memory.
  [[nodiscard]] std::optional<double> size() const;
  [[nodiscard]] bool is_network() const;
};

std::vector<mount> mounts_in(std::string_view text);

/// The mount that holds a path (of the machine, not of the tree); nullptr: none is known.
const mount* mount_of(const std::vector<mount>& mounts, const std::filesystem::path& path);

}  // namespace probing
