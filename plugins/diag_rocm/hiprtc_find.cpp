// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>
#include <system_error>

#include "hiprtc.hpp"
#include "host/common/elf_file.hpp"
#include "library_folders.hpp"
#include "tree.hpp"

namespace diag_rocm {
namespace {

namespace fs = std::filesystem;

// Majors that the loader is asked for when no folder is known; the newest first.
constexpr int newest_major = 15;
constexpr int oldest_major = 5;
// Names of libamd_comgr stand in HIPRTC's read-only data, near its beginning.
constexpr std::size_t most_of_hiprtc = std::size_t{64} << 20;

bool loads(const fs::path& name) {
  boost::dll::fs::error_code failed;
  const boost::dll::shared_library library(name.string(),
                                           boost::dll::load_mode::search_system_folders, failed);
  return !failed;
}

/// "libamd_comgr.so.3": names that stand in HIPRTC's file.
std::vector<std::string> names_in(const fs::path& hiprtc_file) {
  std::vector<std::string> found;
  const std::string text = probing::read_text(hiprtc_file, most_of_hiprtc).value_or("");
  const std::string begin = "libamd_comgr.so";
  for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at + 1)) {
    const std::size_t end = text.find_first_not_of("0123456789.", at + begin.size());
    std::string name = text.substr(at, end == std::string::npos ? end : end - at);
    if (std::find(found.begin(), found.end(), name) == found.end()) {
      found.push_back(std::move(name));
    }
  }
  return found;
}

std::vector<fs::path> own_folders(const fs::path& hiprtc_file) {
  try {
    const elf::file file(hiprtc_file);
    return run_path_folders(file, "/");
  } catch (const elf::error&) {
    return {};  // not an ELF file: on Windows a library's folder is its search path
  }
}

}  // namespace

found_hiprtc find_hiprtc(const assay::probe_site& site, const environment& variables) {
  found_hiprtc found;
  const auto folders = all_library_folders(site, variables);
  found.file = find_library(folders, "libhiprtc");
  if (!found.file.empty()) {
    return found;
  }
  // The system's own folders go without saying.
  for (const auto& some :
       {torch_folders(site), environment_folders(site, variables), rocm_folders(site, variables)}) {
    for (const fs::path& folder : some) {
      found.looked_in.push_back(tree::shown(folder, site.root).string());
    }
  }
  if (site.is_this_machine()) {
    found.looked_in.emplace_back("the loader's path");
    std::vector<std::string> names;
    for (int major = newest_major; major >= oldest_major; --major) {
      names.push_back("libhiprtc.so." + std::to_string(major));
    }
    names.emplace_back("libhiprtc.so");
    for (const std::string& name : names) {
      if (loads(name)) {
        found.file = name;
        break;
      }
    }
  }
  return found;
}

code_object_manager open_code_object_manager(const fs::path& hiprtc_file) {
  const std::vector<std::string> names = names_in(hiprtc_file);
  std::string words;
  for (const std::string& name : names) {
    std::vector<fs::path> candidates;
    for (const fs::path& folder : own_folders(hiprtc_file)) {
      if (tree::is_file(folder / name)) {
        candidates.push_back(folder / name);
      }
    }
    candidates.emplace_back(name);
    for (const fs::path& candidate : candidates) {
      try {
        return code_object_manager(candidate);
      } catch (const std::runtime_error& error) {
        words = words.empty() ? error.what() : words;
      }
    }
  }
  if (!names.empty()) {
    throw std::runtime_error(words);
  }
  return {};
}

}  // namespace diag_rocm
