// SPDX-License-Identifier: Apache-2.0
#include "caches_probe.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cache_files.hpp"
#include "machine.hpp"
#include "tree.hpp"

namespace diag_rocm {
namespace {

namespace fs = std::filesystem;
using assay::probe_answer;
using assay::probe_site;
using assay::probe_state;

// Less than this, and the next kernels do not fit.
constexpr std::uintmax_t least_bytes = std::uintmax_t{16} << 20;
constexpr std::size_t most_files = 256;

class caches_probe : public assay::probe {
 public:
  caches_probe(environment_source source, file_access access)
      : source_(std::move(source)), access_(std::move(access)) {}

  [[nodiscard]] std::string id() const override { return "rocm.caches"; }
  [[nodiscard]] std::string summary() const override {
    return "can MIOpen's database and cache folders be written?";
  }

  probe_answer look(const probe_site& site) override {
    probe_answer answer;
    const machine found = look_at(site);
    if (!found.has_amd_gpu() && site.architecture.rfind("gfx", 0) != 0 &&
        system_of(site) == system_kind::linux_os) {
      answer.fact = why_unanswered(site, found, "no AMD GPU is seen that MIOpen would serve");
      return answer;
    }
    const auto places = miopen_places(site, source_(site));
    if (places.empty()) {
      answer.fact =
          "neither a home folder nor MIOpen's variables are set: its folders are not "
          "known";
      return answer;
    }
    answer.state = probe_state::yes;
    std::string folders;
    for (const cache_place& place : places) {
      answer.values.emplace_back(place.purpose, place.folder.string());
      folders += (folders.empty() ? "" : ", ") + place.folder.string();
      look_at_folder(site, place, answer);
      look_at_files(site, place, answer);
    }
    if (answer.state == probe_state::yes) {
      answer.fact = "MIOpen may write to " + folders;
    }
    return answer;
  }

 private:
  static void say_no(probe_answer& answer, const std::string& fact, const char* finding) {
    answer.state = probe_state::no;
    answer.fact += (answer.fact.empty() ? "" : "; ") + fact;
    if (std::find(answer.findings.begin(), answer.findings.end(), finding) ==
        answer.findings.end()) {
      answer.findings.emplace_back(finding);
    }
  }

  void look_at_folder(const probe_site& site, const cache_place& place,
                      probe_answer& answer) const {
    const std::string name = "MIOpen's " + place.purpose + " " + place.folder.string() +
                             (place.named_by.empty() ? "" : " (" + place.named_by + ")");
    fs::path there = site.at(place.folder);
    std::error_code error;
    while (!fs::exists(there, error) && there.has_parent_path() && there != there.parent_path()) {
      there = there.parent_path();
    }
    const std::string shown = tree::shown(there, site.root).lexically_normal().string();
    if (!tree::is_folder(there)) {
      say_no(answer, name + " cannot be made: " + shown + " is not a folder",
             "ROCM-MIOPEN-DB-UNWRITABLE");
      return;
    }
    const mount on = mount_of(site, place.folder);
    if (on.read_only) {
      say_no(answer, name + " lies on " + on.folder + ", which is mounted read-only",
             "ROCM-MIOPEN-DB-UNWRITABLE");
    } else if (!access_.may_write(there)) {
      const bool missing = there != site.at(place.folder);
      say_no(answer,
             name +
                 (missing ? " cannot be made: this process may not write into "
                          : " may not be written: this process has no right to ") +
                 (missing ? shown + ", the nearest folder there is" : shown),
             "ROCM-MIOPEN-DB-UNWRITABLE");
    } else if (access_.free_bytes(there) < least_bytes) {
      say_no(answer, name + " lies on a full file system (" + on.folder + ")",
             "ROCM-MIOPEN-CACHE-FULL");
    }
    if (on.is_network()) {
      say_no(answer,
             name + " lies on a network file system (" + on.type +
                 "), whose locks SQLite cannot rely on",
             "ROCM-MIOPEN-DB-IO");
    }
  }

  void look_at_files(const probe_site& site, const cache_place& place, probe_answer& answer) const {
    std::vector<fs::path> files = tree::entries(site.at(place.folder));
    const std::vector<fs::path> folders = files;
    for (const fs::path& version : folders) {
      const auto more = tree::entries(version);
      files.insert(files.end(), more.begin(), more.end());
    }
    files.resize(std::min(files.size(), most_files));
    for (const fs::path& file : files) {
      const std::string extension = file.extension().string();
      const bool sqlite =
          extension == ".ukdb" || extension == ".kdb" || extension == ".udb" || extension == ".db";
      const bool text = file.string().ends_with(".udb.txt") || file.string().ends_with("fdb.txt");
      if (!tree::is_file(file) || (!sqlite && !text)) {
        continue;
      }
      const std::string name = tree::shown(file, site.root).string();
      const std::string fault = sqlite ? sqlite_fault(file) : text_database_fault(file);
      if (!fault.empty()) {
        say_no(answer, name + " " + fault, "ROCM-MIOPEN-DB-CORRUPT");
        answer.evidence.push_back(name + ": " + fault);
      } else if (!access_.may_write(file)) {
        say_no(answer, name + " may not be written by this process", "ROCM-MIOPEN-DB-UNWRITABLE");
      } else if (sqlite && site.is_this_machine()) {
        if (const auto holder = platform::sqlite_lock_holder(file)) {
          say_no(answer, name + " is locked by process " + std::to_string(*holder),
                 "ROCM-MIOPEN-DB-IO");
        }
      }
    }
  }

  environment_source source_;
  file_access access_;
};

}  // namespace

std::unique_ptr<assay::probe> make_caches(environment_source source, file_access access) {
  return std::make_unique<caches_probe>(std::move(source), std::move(access));
}

}  // namespace diag_rocm
