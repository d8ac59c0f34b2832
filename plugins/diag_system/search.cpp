// SPDX-License-Identifier: Apache-2.0
#include "diag_system/search.hpp"

#include "common/loader_configuration.hpp"

#include <algorithm>
#include <deque>
#include <initializer_list>
#include <system_error>
#include <utility>

namespace diag_system {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_libraries = 1000;

std::string replaced(std::string text, std::string_view token, const std::string& by) {
  for (std::size_t at = text.find(token); at != std::string::npos;
       at = text.find(token, at + by.size())) {
    text.replace(at, token.size(), by);
  }
  return text;
}

/// The same file under its real name, so that libraries by two names are seen once.
fs::path real_name(const fs::path& file) {
  std::error_code code;
  fs::path real = fs::canonical(file, code);
  return code ? file : real;
}

}  // namespace

library_search::library_search(const assay::probe_site& site) : site_(site) {
  const std::string set =
      replaced(probing::value_of(probing::variables_of(site), "LD_LIBRARY_PATH"), ";", ":");
  for (const std::string_view part : probing::split(set, ':')) {
    if (!part.empty() && part.front() == '/') {
      path_.push_back(site.at(fs::path(part)));
    }
  }
  system_ = probing::configured_library_folders(site);
  for (const char* machine : {"x86_64-linux-gnu", "aarch64-linux-gnu"}) {
    system_.push_back(site.at(fs::path("/lib") / machine));
    system_.push_back(site.at(fs::path("/usr/lib") / machine));
  }
  for (const char* folder : {"/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/lib/wsl/lib"}) {
    system_.push_back(site.at(folder));
  }
}

bool library_search::fits(const fs::path& file, std::uint16_t machine) {
  const auto known = fits_.find(file);
  if (known != fits_.end()) {
    return known->second;
  }
  bool good = false;
  if (probing::is_there(file)) {
    try {
      good = elf::file(file).machine() == machine;
    } catch (const elf::foreign&) {
      good = false;
    } catch (const elf::error&) {
      // The loader takes it and fails; the walk says why.
      good = true;
    }
    if (!good) {
      passed_over_.insert(file);
    }
  }
  fits_.emplace(file, good);
  return good;
}

std::vector<fs::path> library_search::folders_of(const std::string& list,
                                                 const fs::path& origin) const {
  std::vector<fs::path> folders;
  for (const std::string_view part : probing::split(list, ':')) {
    std::string folder = replaced(std::string(part), "${ORIGIN}", "$ORIGIN");
    folder = replaced(replaced(folder, "${LIB}", "lib"), "$LIB", "lib");
    if (folder.rfind("$ORIGIN", 0) == 0) {
      // Where the library lies is below the root already.
      folders.push_back(fs::path(replaced(folder, "$ORIGIN", origin.string())).lexically_normal());
    } else if (!folder.empty() && folder.front() == '/') {
      folders.push_back(site_.at(folder));
    }
  }
  return folders;
}

fs::path library_search::in_folders(const std::vector<fs::path>& folders, const std::string& name,
                                    std::uint16_t machine) {
  for (const fs::path& folder : folders) {
    if (fits(folder / name, machine)) {
      return folder / name;
    }
  }
  return {};
}

fs::path library_search::find(const std::string& name, const wanted_by& by, std::uint16_t machine) {
  if (name.find('/') != std::string::npos) {
    const fs::path file = site_.at(name);
    return fits(file, machine) ? file : fs::path();
  }
  for (const std::vector<fs::path>* folders : std::initializer_list<const std::vector<fs::path>*>{
           &by.before, &path_, &by.after, &system_}) {
    if (fs::path found = in_folders(*folders, name, machine); !found.empty()) {
      return found;
    }
  }
  return {};
}

std::vector<fs::path> torch_libraries(const fs::path& torch_dir) {
  std::vector<fs::path> found;
  for (const char* name :
       {"libtorch_cpu.so", "libtorch_cuda.so", "libtorch_hip.so", "libtorch_xpu.so"}) {
    const fs::path file = torch_dir / "lib" / name;
    if (probing::is_there(file)) {
      found.push_back(file);
    }
  }
  return found;
}

closure load_closure(const assay::probe_site& site, const std::vector<fs::path>& first) {
  library_search search(site);
  closure found;
  struct waiting {
    fs::path file;
    std::vector<fs::path> rpath;  // of those that brought it
  };
  std::deque<waiting> queue;
  std::set<fs::path> seen_files;
  std::set<std::string> seen_names;  // as the loader does: a name that is loaded is not looked for
  for (const fs::path& file : first) {
    queue.push_back({file, {}});
    seen_names.insert(file.filename().string());
  }
  while (!queue.empty()) {
    const waiting next = std::move(queue.front());
    queue.pop_front();
    if (!seen_files.insert(real_name(next.file)).second) {
      continue;
    }
    if (found.libraries.size() >= most_libraries) {
      found.complete = false;
      break;
    }
    try {
      auto read = std::make_shared<const elf::file>(next.file);
      if (!read->soname().empty()) {
        seen_names.insert(read->soname());
      }
      const fs::path origin = next.file.parent_path();
      library_search::wanted_by by;
      if (read->runpath().empty()) {
        by.before = search.folders_of(read->rpath(), origin);
        by.before.insert(by.before.end(), next.rpath.begin(), next.rpath.end());
      } else {
        by.after = search.folders_of(read->runpath(), origin);
      }
      for (const std::string& name : read->needed()) {
        if (!seen_names.insert(name).second) {
          continue;
        }
        const fs::path file = search.find(name, by, read->machine());
        if (file.empty()) {
          found.missing.push_back({name, next.file});
        } else {
          queue.push_back({file, by.before});
        }
      }
      found.libraries.push_back({next.file, std::move(read)});
    } catch (const elf::error& e) {
      found.unreadable.emplace_back(e.what());
    }
  }
  found.passed_over = search.passed_over();
  return found;
}

}  // namespace diag_system
