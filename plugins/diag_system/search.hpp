// SPDX-License-Identifier: Apache-2.0
//
// Finds libraries as the dynamic loader of Linux does, by their files alone: nothing is loaded, and
// the tree may be that of another machine.
#pragma once

#include "common/probing.hpp"
#include "host/common/elf_file.hpp"

#include <assay/diagnostics.hpp>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace diag_system {

class library_search {
 public:
  explicit library_search(const assay::probe_site& site);

  struct wanted_by {
    std::vector<std::filesystem::path> before{};  // RPATH: searched before LD_LIBRARY_PATH
    std::vector<std::filesystem::path> after{};   // RUNPATH: after it
  };

  /// Where the loader finds a library for one that needs it; empty: nowhere. Libraries of another
  /// machine's word size are passed over, as the loader does.
  std::filesystem::path find(const std::string& name, const wanted_by& by, std::uint16_t machine);

  /// Folders of an RPATH or RUNPATH, below the root; `origin` is where the library lies.
  [[nodiscard]] std::vector<std::filesystem::path> folders_of(
      const std::string& list, const std::filesystem::path& origin) const;
  /// Libraries of another word size that were passed over.
  [[nodiscard]] const std::set<std::filesystem::path>& passed_over() const { return passed_over_; }

 private:
  [[nodiscard]] bool fits(const std::filesystem::path& file, std::uint16_t machine);
  std::filesystem::path in_folders(const std::vector<std::filesystem::path>& folders,
                                   const std::string& name, std::uint16_t machine);

  assay::probe_site site_;
  std::vector<std::filesystem::path> path_;    // LD_LIBRARY_PATH
  std::vector<std::filesystem::path> system_;  // ld.so.conf and the usual folders
  std::map<std::filesystem::path, bool> fits_;
  std::set<std::filesystem::path> passed_over_;
};

/// One library of the tree that a program would load.
struct loaded_library {
  std::filesystem::path file;
  std::shared_ptr<const elf::file> read;
};

struct missing_library {
  std::string name;
  std::filesystem::path needed_by;
};

/// All that loading `first` brings along, first things first.
struct closure {
  std::vector<loaded_library> libraries{};
  std::vector<missing_library> missing{};
  std::vector<std::string> unreadable{};  // reasons
  bool complete = true;                   // false: there were too many
  std::set<std::filesystem::path> passed_over{};
};

closure load_closure(const assay::probe_site& site,
                     const std::vector<std::filesystem::path>& first);

/// libtorch_cpu.so and the back end's, of a LibTorch folder; those that exist.
std::vector<std::filesystem::path> torch_libraries(const std::filesystem::path& torch_dir);

}  // namespace diag_system
