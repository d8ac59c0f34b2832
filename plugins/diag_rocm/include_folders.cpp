// SPDX-License-Identifier: Apache-2.0
#include "include_folders.hpp"

#include <algorithm>
#include <optional>

#include "library_environment.hpp"
#include "tree.hpp"

namespace diag_rocm {
namespace {

namespace fs = std::filesystem;

/// The entry of `folder` with the greatest version for which `complete` holds.
template <typename Test>
std::optional<fs::path> newest(const fs::path& folder, Test complete) {
  auto versions = tree::entries(folder);
  std::sort(versions.begin(), versions.end(), [](const fs::path& a, const fs::path& b) {
    return tree::natural_less(b.filename().string(), a.filename().string());
  });
  const auto found = std::find_if(versions.begin(), versions.end(), complete);
  return found == versions.end() ? std::nullopt : std::optional<fs::path>(*found);
}

bool is_version(const fs::path& path) {
  const std::string name = path.filename().string();
  return !name.empty() && name.front() >= '0' && name.front() <= '9';
}

/// Where libstdc++ of this version keeps bits/c++config.h: .../TRIPLET/c++/12 with Debian,
/// .../c++/14/TRIPLET elsewhere.
std::optional<fs::path> configuration_folder(const fs::path& include, const fs::path& version) {
  std::vector<fs::path> candidates;
  for (const fs::path& folder : tree::entries(include)) {
    candidates.push_back(folder / "c++" / version.filename());
  }
  for (const fs::path& folder : tree::entries(version)) {
    candidates.push_back(folder);
  }
  const auto found = std::find_if(candidates.begin(), candidates.end(), [](const fs::path& folder) {
    return tree::is_file(folder / "bits" / "c++config.h");
  });
  return found == candidates.end() ? std::nullopt : std::optional<fs::path>(*found);
}

void find_unix(include_folders& found, const assay::probe_site& site) {
  const auto add = [&](std::vector<fs::path>& to, const fs::path& folder) {
    to.push_back(tree::shown(folder, site.root));
  };
  const fs::path include = site.at("/usr/include");
  const auto version = newest(include / "c++", [&](const fs::path& folder) {
    return is_version(folder) && tree::is_file(folder / "type_traits") &&
           configuration_folder(include, folder);
  });
  if (version) {
    const fs::path configuration = *configuration_folder(include, *version);
    add(found.cxx, *version);
    add(found.cxx, configuration);
    if (configuration.parent_path() != *version) {
      add(found.c, configuration.parent_path().parent_path());
    }
  } else if (tree::is_file(include / "c++" / "v1" / "type_traits")) {
    add(found.cxx, include / "c++" / "v1");
  }
  if (tree::is_file(include / "features.h")) {
    add(found.c, include);
  }
}

void find_visual_studio(include_folders& found, const assay::probe_site& site) {
  const auto has_type_traits = [](const fs::path& folder) {
    return tree::is_file(folder / "include" / "type_traits");
  };
  for (const char* programs : {"C:/Program Files", "C:/Program Files (x86)"}) {
    const fs::path base = site.at(programs);
    for (const fs::path& year : tree::entries(base / "Microsoft Visual Studio")) {
      for (const fs::path& edition : tree::entries(year)) {
        const auto tools = newest(edition / "VC" / "Tools" / "MSVC", has_type_traits);
        if (tools) {
          found.cxx = {tree::shown(*tools / "include", site.root)};
        }
      }
    }
    const auto kit = newest(base / "Windows Kits" / "10" / "Include", [](const fs::path& folder) {
      return tree::is_folder(folder / "ucrt");
    });
    if (kit) {
      found.c = {tree::shown(*kit / "ucrt", site.root)};
    }
  }
}

}  // namespace

std::string include_folders::joined(bool with_c) const {
  std::string text;
  const auto add = [&](const std::vector<fs::path>& folders) {
    for (const fs::path& folder : folders) {
      text += (text.empty() ? "" : std::string(1, separator)) + folder.string();
    }
  };
  add(cxx);
  if (with_c) {
    add(c);
  }
  return text;
}

include_folders find_include_folders(const assay::probe_site& site, const environment& variables) {
  include_folders found;
  find_unix(found, site);
  if (!found.cxx.empty()) {
    return found;
  }
  found.c.clear();
  // A developer prompt names all of them.
  for (const std::string& folder : tree::split(filled(variables, "INCLUDE").value_or(""), ';')) {
    (found.cxx.empty() && tree::is_file(site.at(fs::path(folder) / "type_traits")) ? found.cxx
                                                                                   : found.c)
        .emplace_back(folder);
  }
  if (found.cxx.empty()) {
    found.c.clear();
    find_visual_studio(found, site);
  }
  if (!found.cxx.empty()) {
    found.separator = ';';
  }
  return found;
}

}  // namespace diag_rocm
