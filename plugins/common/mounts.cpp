// SPDX-License-Identifier: Apache-2.0
#include "common/mounts.hpp"

#include "common/probing.hpp"

#include <algorithm>
#include <array>

namespace probing {
namespace {

/// /proc/mounts writes a blank as \040.
std::string unescaped(std::string_view text) {
  std::string made;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      if (const auto code = whole_number(text.substr(i + 1, 3), 8); code && *code < 256) {
        made += static_cast<char>(*code);
        i += 3;
        continue;
      }
    }
    made += text[i];
  }
  return made;
}

}  // namespace

bool mount::has(std::string_view option) const {
  const auto all = split(options, ',');
  return std::find(all.begin(), all.end(), option) != all.end();
}

std::optional<double> mount::size() const {
  constexpr std::string_view key = "size=";
  for (const std::string_view option : split(options, ',')) {
    if (option.substr(0, key.size()) != key) {
      continue;
    }
    std::string_view number = option.substr(key.size());
    double unit = 1;
    constexpr std::string_view units = "kmg";
    if (!number.empty()) {
      const std::size_t power = units.find(static_cast<char>(number.back() | 0x20));
      for (std::size_t i = 0; power != std::string_view::npos && i <= power; ++i) {
        unit *= 1024;
      }
      number.remove_suffix(power != std::string_view::npos ? 1 : 0);
    }
    if (const auto value = whole_number(number)) {
      return static_cast<double>(*value) * unit;
    }
  }
  return std::nullopt;
}

bool mount::is_network() const {
  constexpr std::array<std::string_view, 12> types{
      "nfs",  "nfs4", "cifs",      "smb3",       "lustre",         "beegfs",
      "gpfs", "ceph", "glusterfs", "fuse.sshfs", "fuse.glusterfs", "afs"};
  return std::find(types.begin(), types.end(), type) != types.end();
}

std::vector<mount> mounts_in(std::string_view text) {
  std::vector<mount> found;
  for (const std::string_view line : lines_of(text)) {
    const auto words = split(line, ' ');
    if (words.size() >= 4) {
      found.push_back(
          {unescaped(words[1]), std::string(words[2]), std::string(words[3]), std::string(line)});
    }
  }
  return found;
}

const mount* mount_of(const std::vector<mount>& mounts, const std::filesystem::path& path) {
  const mount* best = nullptr;
  const std::string name = path.lexically_normal().generic_string();
  for (const mount& one : mounts) {
    const bool holds = one.point == "/" || name == one.point ||
                       (name.rfind(one.point, 0) == 0 && name[one.point.size()] == '/');
    // Of two mounts on one point the later hides the earlier.
    if (holds && (best == nullptr || one.point.size() >= best->point.size())) {
      best = &one;
    }
  }
  return best;
}

}  // namespace probing
