// SPDX-License-Identifier: Apache-2.0
#include "cache_files.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <system_error>

#include "common/mounts.hpp"
#include "library_environment.hpp"
#include "machine.hpp"
#include "text.hpp"
#include "tree.hpp"

namespace diag_rocm {
namespace {

namespace fs = std::filesystem;

std::uint32_t big_endian(std::string_view from, std::size_t at, unsigned width) {
  std::uint32_t value = 0;
  for (unsigned i = 0; i < width; ++i) {
    value = value << 8 | static_cast<unsigned char>(from[at + i]);
  }
  return value;
}

}  // namespace

bool mount::is_network() const {
  constexpr std::array types{"nfs",    "nfs4",      "cifs",       "smb3",           "smbfs",
                             "afs",    "ceph",      "9p",         "lustre",         "gpfs",
                             "beegfs", "glusterfs", "fuse.sshfs", "fuse.glusterfs", "ncpfs",
                             "panfs",  "orangefs"};
  return std::find(types.begin(), types.end(), type) != types.end();
}

mount mount_of(const assay::probe_site& site, const fs::path& path) {
  const auto mounts = probing::mounts_in(read_file(site.at("/proc/self/mounts")).text);
  const probing::mount* on = probing::mount_of(mounts, path);
  return on == nullptr ? mount() : mount{on->type, on->point, on->has("ro")};
}

std::vector<cache_place> miopen_places(const assay::probe_site& site,
                                       const environment& variables) {
  const bool windows = system_of(site) == system_kind::windows;
  const auto home = filled(variables, windows ? "USERPROFILE" : "HOME");
  std::vector<cache_place> places;
  const auto add = [&](const char* purpose, const char* variable, const char* on_windows,
                       const char* elsewhere) {
    if (const auto named = filled(variables, variable)) {
      places.push_back({purpose, *named, variable});
      return;
    }
    if (!home) {
      return;
    }
    cache_place place{purpose, fs::path(*home) / (windows ? on_windows : elsewhere), {}};
    // MIOpen itself leaves a home on the network alone.
    if (mount_of(site, *home).is_network()) {
      const auto scratch = filled(variables, "TMPDIR");
      place.folder = fs::path(scratch.value_or("/tmp")) / elsewhere;
    }
    places.push_back(std::move(place));
  };
  add("user database", "MIOPEN_USER_DB_PATH", ".miopen/db", ".config/miopen");
  const std::string off = lower(value_of(variables, "MIOPEN_DISABLE_CACHE"));
  constexpr std::array yes{"1", "on", "yes", "true", "enable", "enabled"};
  if (std::find(yes.begin(), yes.end(), off) == yes.end()) {
    add("kernel cache", "MIOPEN_CUSTOM_CACHE_DIR", ".miopen/cache", ".cache/miopen");
  }
  return places;
}

std::string sqlite_fault(const fs::path& file) {
  constexpr std::size_t header_size = 100;
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file, error);
  const auto header = probing::read_text(file, header_size);
  if (error || !header) {
    return "cannot be read";
  }
  if (size == 0) {
    return {};  // SQLite makes a new database of an empty file
  }
  if (header->size() < header_size ||
      !header->starts_with(std::string_view("SQLite format 3\0", 16))) {
    return "is no SQLite database";
  }
  const std::uint32_t stored = big_endian(*header, 16, 2);
  const std::uint32_t page = stored == 1 ? 65536 : stored;
  if (page < 512 || (page & (page - 1)) != 0) {
    return "has a damaged header";
  }
  // The number of pages counts where the same version of SQLite wrote it as changed the file last.
  const bool counts = big_endian(*header, 24, 4) == big_endian(*header, 92, 4);
  const std::uintmax_t pages = big_endian(*header, 28, 4);
  if (size % page != 0 || (counts && pages > 0 && size < pages * page)) {
    return "is cut off";
  }
  return {};
}

std::string text_database_fault(const fs::path& file) {
  const auto text = probing::read_text(file);
  if (!text) {
    return "cannot be read";
  }
  if (text->find('\0') != std::string::npos) {
    return "holds bytes that are no text";
  }
  const auto all = tree::lines(*text);
  const auto bad = std::find_if(all.begin(), all.end(), [](const std::string& line) {
    return line.find('=') == std::string::npos;
  });
  // The last line may only have been cut by the reading.
  return bad == all.end() || bad + 1 == all.end()
             ? std::string()
             : "has a line that is no entry: " + bad->substr(0, 60);
}

}  // namespace diag_rocm
