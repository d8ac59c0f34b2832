// SPDX-License-Identifier: Apache-2.0
#include "library_folders.hpp"

#include <algorithm>

#include "common/loader_configuration.hpp"
#include "library_environment.hpp"
#include "tree.hpp"

namespace diag_rocm {
namespace {

namespace fs = std::filesystem;

void add(std::vector<fs::path>& to, const fs::path& folder) {
  const fs::path tidy = folder.lexically_normal();
  if (tree::is_folder(tidy) && std::find(to.begin(), to.end(), tidy) == to.end()) {
    to.push_back(tidy);
  }
}

}  // namespace

std::vector<fs::path> torch_folders(const assay::probe_site& site) {
  std::vector<fs::path> found;
  if (!site.torch_dir.empty()) {
    add(found, site.at(site.torch_dir / "lib"));
    const fs::path packages = site.at(site.torch_dir.lexically_normal()).parent_path();
    for (const fs::path& package : tree::entries(packages, "_rocm_sdk_")) {
      add(found, package / "lib");
      add(found, package / "bin");
    }
  }
  return found;
}

std::vector<fs::path> rocm_folders(const assay::probe_site& site, const environment& variables) {
  std::vector<fs::path> found;
  for (const char* name : {"ROCM_PATH", "ROCM_HOME", "HIP_PATH"}) {
    if (const auto folder = filled(variables, name)) {
      add(found, site.at(fs::path(*folder) / "lib"));
      add(found, site.at(fs::path(*folder) / "bin"));
    }
  }
  auto installed = tree::entries(site.at("/opt"), "rocm");
  std::stable_sort(installed.begin(), installed.end(), [](const fs::path& a, const fs::path& b) {
    // /opt/rocm itself first, then the newest.
    const bool a_first = a.filename() == "rocm";
    const bool b_first = b.filename() == "rocm";
    return a_first != b_first ? a_first
                              : tree::natural_less(b.filename().string(), a.filename().string());
  });
  for (const fs::path& rocm : installed) {
    add(found, rocm / "lib");
    add(found, rocm / "lib64");
  }
  return found;
}

std::vector<fs::path> environment_folders(const assay::probe_site& site,
                                          const environment& variables) {
  std::vector<fs::path> found;
  for (const std::string& folder :
       tree::split(filled(variables, "LD_LIBRARY_PATH").value_or(""), ':')) {
    add(found, site.at(folder));
  }
  return found;
}

std::vector<fs::path> system_folders(const assay::probe_site& site) {
  std::vector<fs::path> found;
  for (const fs::path& folder : probing::configured_library_folders(site)) {
    add(found, folder);
  }
  // Debian's loader has the folders of its architectures built in.
  for (const char* parent : {"/lib", "/usr/lib"}) {
    for (const fs::path& folder : tree::entries(site.at(parent), "", "-linux-gnu")) {
      add(found, folder);
    }
  }
  for (const char* folder : {"/lib64", "/usr/lib64", "/lib", "/usr/lib"}) {
    add(found, site.at(folder));
  }
  return found;
}

std::vector<fs::path> all_library_folders(const assay::probe_site& site,
                                          const environment& variables) {
  std::vector<fs::path> all;
  for (const auto& some : {torch_folders(site), environment_folders(site, variables),
                           rocm_folders(site, variables), system_folders(site)}) {
    for (const fs::path& folder : some) {
      add(all, folder);
    }
  }
  return all;
}

fs::path find_library(const std::vector<fs::path>& folders, std::string_view stem) {
  const std::string_view windows_stem = stem.substr(stem.starts_with("lib") ? 3 : 0);
  for (const fs::path& folder : folders) {
    std::vector<fs::path> files = tree::entries(folder, std::string(stem) + ".so");
    for (const fs::path& file : tree::entries(folder, windows_stem, ".dll")) {
      // amdhip64_7.dll, hiprtc0702.dll: a version may follow, another word may not.
      const std::string name = file.stem().string();
      if (name.find_first_not_of("_0123456789", windows_stem.size()) == std::string::npos) {
        files.push_back(file);
      }
    }
    std::erase_if(files, [](const fs::path& file) { return !tree::is_file(file); });
    if (!files.empty()) {
      // The shortest name is the one that programs ask for: libx.so before libx.so.7.
      return *std::min_element(files.begin(), files.end(), [](const auto& a, const auto& b) {
        return a.native().size() < b.native().size();
      });
    }
  }
  return {};
}

std::vector<fs::path> run_path_folders(const elf::file& library, const fs::path& root) {
  std::vector<fs::path> found;
  const fs::path origin = library.path().parent_path();
  for (const std::string& part :
       tree::split(library.runpath().empty() ? library.rpath() : library.runpath(), ':')) {
    std::string folder = part;
    bool from_origin = false;
    for (const std::string name : {"${ORIGIN}", "$ORIGIN"}) {
      for (std::size_t at = folder.find(name); at != std::string::npos; at = folder.find(name)) {
        folder.replace(at, name.size(), origin.string());
        from_origin = true;
      }
    }
    add(found, from_origin ? fs::path(folder) : root / fs::path(folder).relative_path());
  }
  return found;
}

}  // namespace diag_rocm
