// SPDX-License-Identifier: Apache-2.0
#include "common/mounts.hpp"
#include "common/platform.hpp"
#include "common/probing.hpp"
#include "diag_system/probes.hpp"
#include "diag_system/room.hpp"

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace diag_system {
namespace {

namespace fs = std::filesystem;

constexpr double gibibyte = 1024.0 * 1024 * 1024;
// A first run of MIOpen, Triton or the CUDA compiler cache writes that much with ease.
constexpr double least_free = gibibyte / 2;
// DataLoader workers hand each batch over in it; containers start with 64 MiB.
constexpr double least_shared = gibibyte;

std::vector<probing::mount> mounts_of(const assay::probe_site& site) {
  std::string text = probing::read_text(site.at("/proc/self/mounts")).value_or("");
  if (text.empty()) {
    text = probing::read_text(site.at("/proc/mounts")).value_or("");
  }
  return probing::mounts_in(text);
}

/// The folder itself, or the nearest one above it that exists: where it would be made.
fs::path nearest(fs::path path) {
  while (!probing::is_there(path) && path.has_relative_path()) {
    path = path.parent_path();
  }
  return path;
}

folder look_at(const assay::probe_site& site, const std::vector<probing::mount>& mounts,
               std::string role, const fs::path& path) {
  folder found{.role = std::move(role), .path = path.string()};
  const fs::path at = site.at(path);
  const fs::path near = nearest(at);
  found.there = near == at;
  std::error_code code;
  if (found.there && !fs::is_directory(at, code)) {
    found.not_writable = "it is not a folder";
  } else if (site.is_this_machine()) {
    found.not_writable = probing::why_not_usable(near, probing::use::read_write);
    const fs::space_info space = fs::space(near, code);
    if (!code) {
      found.free = static_cast<double>(space.available);
    }
  }
  if (const probing::mount* on = probing::mount_of(mounts, path); on != nullptr) {
    found.network = on->is_network();
    found.mount_line = on->line;
    if (found.not_writable.empty() && on->has("ro")) {
      found.not_writable = "it is mounted read-only";
    }
  }
  return found;
}

std::vector<std::pair<std::string, fs::path>> folders_to_look_at(const probing::variables& set) {
  const auto value = [&](const char* name) { return probing::value_of(set, name); };
  std::vector<std::pair<std::string, fs::path>> all;
  std::string home = value(probing::is_windows ? "USERPROFILE" : "HOME");
  if (!home.empty()) {
    all.emplace_back("home", home);
  }
  if (const std::string cache = value(probing::is_windows ? "LOCALAPPDATA" : "XDG_CACHE_HOME");
      !cache.empty()) {
    all.emplace_back("cache", cache);
  } else if (!home.empty()) {
    all.emplace_back("cache", fs::path(home) / ".cache");
  }
  const std::string temporary = value(probing::is_windows ? "TEMP" : "TMPDIR");
  if (!temporary.empty() || !probing::is_windows) {
    all.emplace_back("temporary", temporary.empty() ? "/tmp" : temporary);
  }
  for (const char* name : {"MIOPEN_USER_DB_PATH", "MIOPEN_CUSTOM_CACHE_DIR", "TRITON_CACHE_DIR",
                           "TORCHINDUCTOR_CACHE_DIR", "CUDA_CACHE_PATH"}) {
    if (std::string path = value(name); !path.empty()) {
      all.emplace_back(name, path);
    }
  }
  return all;
}

}  // namespace

assay::probe_answer judge_folders(const std::vector<folder>& folders) {
  std::vector<std::string> troubles;
  std::vector<std::string> remarks;
  assay::probe_answer answer;
  const auto find = [&](const char* code) {
    if (std::find(answer.findings.begin(), answer.findings.end(), code) == answer.findings.end()) {
      answer.findings.emplace_back(code);
    }
  };
  std::optional<double> least;
  for (const folder& one : folders) {
    const std::string name = one.role + " folder " + one.path;
    if (!one.not_writable.empty()) {
      troubles.push_back(name + (one.there ? " may not be written: " : " cannot be made: ") +
                         one.not_writable);
      find("SYSTEM-FOLDER-UNWRITABLE");
    }
    if (one.free && *one.free < least_free) {
      troubles.push_back(name + " has " + probing::size_text(*one.free) + " free");
      find("SYSTEM-DISK-FULL");
    }
    if (one.free) {
      least = least ? std::min(*least, *one.free) : *one.free;
    }
    if (one.network && one.role != "home") {
      remarks.push_back(name + " is on a network file system, on which databases may fail to lock");
    }
    if ((!one.not_writable.empty() || one.network) && !one.mount_line.empty()) {
      answer.evidence.push_back(one.mount_line);
    }
  }
  if (!troubles.empty()) {
    answer.state = assay::probe_state::no;
    answer.fact = probing::joined(troubles, "; ");
  } else if (!folders.empty()) {
    answer.state = least ? assay::probe_state::yes : assay::probe_state::unknown;
    answer.fact = least
                      ? "all are writable, with at least " + probing::size_text(*least) + " free"
                      : std::string("nothing against them is seen; ") + probing::only_this_machine;
  } else {
    answer.fact = "no variable says which folders they are";
  }
  if (!remarks.empty()) {
    answer.fact += "; " + probing::joined(remarks, "; ");
  }
  return answer;
}

assay::probe_answer look_at_disk(const assay::probe_site& site) {
  const std::vector<probing::mount> mounts = mounts_of(site);
  std::vector<folder> folders;
  for (const auto& [role, path] : folders_to_look_at(probing::variables_of(site))) {
    folders.push_back(look_at(site, mounts, role, path));
  }
  return judge_folders(folders);
}

assay::probe_answer look_at_shared_memory(const assay::probe_site& site) {
  if (probing::is_windows && site.is_this_machine()) {
    return probing::unknown(probing::only_linux);
  }
  const fs::path at = site.at("/dev/shm");
  const std::vector<probing::mount> mounts = mounts_of(site);
  const probing::mount* on = probing::mount_of(mounts, "/dev/shm");
  const bool own = on != nullptr && on->point == "/dev/shm";
  if (!site.is_this_machine() && !own) {
    // A mount: a copy of the machine's files does not hold it.
    return probing::unknown("/dev/shm is no mount of its own in this tree");
  }
  if (site.is_this_machine() && !probing::is_there(at)) {
    return probing::no("/dev/shm is not there", "SYSTEM-SHM-SMALL");
  }
  std::optional<double> size;
  if (own) {
    size = on->size();
  }
  std::optional<double> free;
  if (site.is_this_machine()) {
    if (const std::string why = probing::why_not_usable(at, probing::use::read_write);
        !why.empty()) {
      return probing::no("/dev/shm may not be written: " + why, "SYSTEM-FOLDER-UNWRITABLE");
    }
    std::error_code code;
    const fs::space_info space = fs::space(at, code);
    if (!code) {
      size = static_cast<double>(space.capacity);
      free = static_cast<double>(space.available);
    }
  }
  if (!size) {
    return probing::unknown(own ? "/dev/shm has no stated size"
                                : "/dev/shm is no mount of its own in this tree");
  }
  const std::string has = "/dev/shm has " + probing::size_text(size.value_or(0)) +
                          (free ? ", " + probing::size_text(*free) + " free" : "");
  assay::probe_answer answer =
      free.value_or(*size) < least_shared
          ? probing::no(has + ": a container gets more with --shm-size=8g or --ipc=host",
                        "SYSTEM-SHM-SMALL")
          : probing::yes(has);
  if (own) {
    answer.evidence.push_back(on->line);
  }
  return answer;
}

}  // namespace diag_system
