// SPDX-License-Identifier: Apache-2.0
#include "loading_order.hpp"

#include <algorithm>
#include <deque>
#include <set>
#include <utility>

#include "host/common/elf_file.hpp"
#include "library_folders.hpp"
#include "tree.hpp"

namespace diag_rocm {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_libraries = 2000;

struct waiting {
  fs::path file;
  std::vector<fs::path> inherited;  // RPATH folders of those that asked for it
};

class planner {
 public:
  planner(const assay::probe_site& site, const environment& variables, std::vector<fs::path> also)
      : site_(site),
        environment_folders_(environment_folders(site, variables)),
        system_folders_(system_folders(site)),
        also_(std::move(also)) {}

  load_plan plan(const fs::path& library) {
    known_.insert(library.filename().string());
    queue_.push_back({library, {}});
    while (!queue_.empty() && plan_.files.size() < most_libraries) {
      const waiting next = std::move(queue_.front());
      queue_.pop_front();
      visit(next);
    }
    return std::move(plan_);
  }

 private:
  void visit(const waiting& next) {
    plan_.files.push_back(next.file);
    const elf::file file(next.file);
    machine_ = machine_ == 0 ? file.machine() : machine_;
    if (!file.soname().empty()) {
      known_.insert(file.soname());
    }
    const std::vector<fs::path> own = run_path_folders(file, site_.root);
    const bool has_runpath = !file.runpath().empty();
    std::vector<fs::path> rpath = next.inherited;
    if (!has_runpath) {
      rpath.insert(rpath.begin(), own.begin(), own.end());
    }
    for (const std::string& name : file.needed()) {
      if (!known_.insert(name).second) {
        continue;  // loaded already, or asked for and missing
      }
      const std::vector<fs::path> nothing;
      const fs::path found =
          search(name, {has_runpath ? &nothing : &rpath, &environment_folders_,
                        has_runpath ? &own : &nothing, &system_folders_, &also_});
      if (found.empty()) {
        plan_.missing.push_back({name, tree::shown(next.file, site_.root).string()});
      } else {
        queue_.push_back({found, rpath});
      }
    }
  }

  [[nodiscard]] fs::path search(const std::string& name,
                                const std::vector<const std::vector<fs::path>*>& lists) const {
    for (const auto* folders : lists) {
      for (const fs::path& folder : *folders) {
        const fs::path candidate = folder / name;
        if (tree::is_file(candidate) && is_for_this_machine(candidate)) {
          return candidate;
        }
      }
    }
    return {};
  }

  [[nodiscard]] bool is_for_this_machine(const fs::path& file) const {
    try {
      return elf::file(file).machine() == machine_;
    } catch (const elf::error&) {
      return false;
    }
  }

  const assay::probe_site& site_;
  std::vector<fs::path> environment_folders_, system_folders_, also_;
  std::set<std::string> known_{};
  std::deque<waiting> queue_{};
  std::uint16_t machine_ = 0;
  load_plan plan_{};
};

}  // namespace

load_plan plan_loading(const fs::path& library, const assay::probe_site& site,
                       const environment& variables, const std::vector<fs::path>& also) {
  return planner(site, variables, also).plan(library);
}

}  // namespace diag_rocm
