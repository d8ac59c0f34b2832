// SPDX-License-Identifier: Apache-2.0
#include "common/loader_configuration.hpp"

#include "common/probing.hpp"

namespace probing {
namespace {

namespace fs = std::filesystem;

constexpr int deepest_include = 4;

/// In practice always "folder/*.conf", or one file.
bool fits(const std::string& name, const std::string& pattern) {
  const std::size_t star = pattern.find('*');
  if (star == std::string::npos) {
    return name == pattern;
  }
  return name.size() + 1 >= pattern.size() && name.starts_with(pattern.substr(0, star)) &&
         name.ends_with(pattern.substr(star + 1));
}

void read(const assay::probe_site& site, const fs::path& file, int depth,
          std::vector<fs::path>& to) {
  const std::string text = read_text(site.at(file)).value_or("");
  for (std::string_view line : lines_of(text)) {
    line = trimmed(line.substr(0, line.find('#')));
    constexpr std::string_view include = "include ";
    if (line.starts_with(include) && depth < deepest_include) {
      const fs::path pattern = file.parent_path() / fs::path(trimmed(line.substr(include.size())));
      for (const std::string& name : names_in(site.at(pattern.parent_path()))) {
        if (fits(name, pattern.filename().string())) {
          read(site, pattern.parent_path() / name, depth + 1, to);
        }
      }
    } else if (line.starts_with('/')) {
      to.push_back(site.at(fs::path(line)));
    }
  }
}

}  // namespace

std::vector<fs::path> configured_library_folders(const assay::probe_site& site) {
  std::vector<fs::path> folders;
  read(site, "/etc/ld.so.conf", 0, folders);
  return folders;
}

}  // namespace probing
