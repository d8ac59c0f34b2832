// SPDX-License-Identifier: Apache-2.0
//
// What LibTorch's libraries need of the system, by their own headers.
#include "common/pci_bus.hpp"
#include "common/platform.hpp"
#include "common/probing.hpp"
#include "diag_system/probes.hpp"
#include "diag_system/search.hpp"
#include "host/common/elf_file.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace diag_system {
namespace {

namespace fs = std::filesystem;

constexpr const char* no_torch = "LibTorch's folder is not known";

/// The newest version with a prefix that any library of LibTorch's needs, and which one does.
struct need {
  std::string version{};
  fs::path by{};
  std::size_t libraries = 0;
};

need newest_need(const fs::path& torch_dir, std::string_view prefix) {
  need newest;
  for (const std::string& name : probing::names_in(torch_dir / "lib")) {
    if (name.find(".so") == std::string::npos) {
      continue;
    }
    try {
      const elf::file library(torch_dir / "lib" / name);
      ++newest.libraries;
      for (const elf::version_need& of : library.version_needs()) {
        const std::string version = probing::newest_with_prefix(of.versions, prefix);
        if (!version.empty() &&
            (newest.version.empty() || probing::older(newest.version, version))) {
          newest.version = version;
          newest.by = library.path();
        }
      }
    } catch (const elf::error&) {
      // system.linker says which file is damaged.
    }
  }
  return newest;
}

/// The library that a LibTorch in this tree would get by this name; empty: none.
fs::path found_for(const assay::probe_site& site, const std::string& name) {
  const std::vector<fs::path> torch = torch_libraries(site.torch_dir);
  const closure all = load_closure(site, torch);
  for (const loaded_library& one : all.libraries) {
    if (one.file.filename() == name || one.read->soname() == name) {
      return one.file;
    }
  }
  return {};
}

bool starts_with_any(std::string_view name, std::initializer_list<std::string_view> stems) {
  return std::any_of(stems.begin(), stems.end(),
                     [&](std::string_view stem) { return name.substr(0, stem.size()) == stem; });
}

std::string code_for(const missing_library& missing, const closure& all) {
  const auto passed = [&](const fs::path& file) { return file.filename() == missing.name; };
  if (std::any_of(all.passed_over.begin(), all.passed_over.end(), passed)) {
    return "SYSTEM-ELF-CLASS";
  }
  if (starts_with_any(missing.name, {"libcu", "libnv", "libnccl", "libcaffe2_nvrtc"})) {
    return "CUDA-LIBRARY-MISSING";
  }
  if (starts_with_any(missing.name, {"libamdhip", "libhip", "libroc", "libMIOpen", "libmiopen",
                                     "librccl", "libhsa", "libamd_comgr", "libmagma"})) {
    return "ROCM-LIBRARY-MISSING";
  }
  return "SYSTEM-LIBRARY-MISSING";
}

/// Whether a GPU is there that needs this vendor's libraries; a wheel without them is the usual
/// way to have LibTorch on a machine without one.
bool gpu_of(const assay::probe_site& site, const std::string& code) {
  const bool nvidia = code == "CUDA-LIBRARY-MISSING";
  if (!nvidia && code != "ROCM-LIBRARY-MISSING") {
    return true;  // not a GPU's
  }
  for (const char* sign : {"/dev/dxg", nvidia ? "/proc/driver/nvidia" : "/dev/kfd"}) {
    if (probing::is_there(site.at(sign))) {
      return true;
    }
  }
  const auto bus = probing::pci_functions(site);
  return std::any_of(bus.begin(), bus.end(), [&](const probing::pci_function& device) {
    return device.vendor == (nvidia ? probing::vendor_nvidia : probing::vendor_amd) &&
           (device.base_class == probing::class_display ||
            device.base_class == probing::class_accelerator);
  });
}

assay::probe_answer too_old(const std::string& what, const need& needed, const std::string& has,
                            const char* code) {
  auto answer = probing::no(
      what + ", and " + needed.by.filename().string() + " needs " + needed.version + " or newer",
      code);
  answer.values.emplace_back("needed", needed.version);
  answer.values.emplace_back("found", has);
  return answer;
}

}  // namespace

assay::probe_answer look_at_glibc(const assay::probe_site& site) {
  if (probing::is_windows && site.is_this_machine()) {
    return probing::unknown(probing::only_linux);
  }
  std::string has = site.is_this_machine() ? probing::running_glibc() : "";
  if (!site.is_this_machine()) {
    library_search search(site);
    for (const std::uint16_t machine : {elf::machine_x86_64, elf::machine_aarch64}) {
      const fs::path libc = search.find("libc.so.6", {}, machine);
      if (!libc.empty() && has.empty()) {
        has = probing::newest_with_prefix(elf::file(libc).version_definitions(), "GLIBC_");
      }
    }
  }
  if (has.empty()) {
    return site.is_this_machine()
               ? probing::no("the C library is not glibc, for which LibTorch is built")
               : probing::unknown("no libc.so.6 in this tree");
  }
  if (site.torch_dir.empty()) {
    return probing::unknown("glibc is " + has + "; " + no_torch);
  }
  const need needed = newest_need(site.torch_dir, "GLIBC_");
  if (needed.version.empty()) {
    return probing::unknown("glibc is " + has + "; no library of LibTorch's in " +
                            (site.torch_dir / "lib").string() + " says what it needs");
  }
  assay::probe_answer answer =
      probing::older(has, needed.version)
          ? too_old("glibc is " + has, needed, has, "SYSTEM-GLIBC-OLD")
          : probing::yes("glibc is " + has + ", LibTorch needs " + needed.version);
  answer.evidence.push_back(needed.by.filename().string() + " needs GLIBC_" + needed.version);
  return answer;
}

assay::probe_answer look_at_libstdcxx(const assay::probe_site& site) {
  if (probing::is_windows && site.is_this_machine()) {
    return probing::unknown(probing::only_linux);
  }
  if (site.torch_dir.empty()) {
    return probing::unknown(no_torch);
  }
  const need needed = newest_need(site.torch_dir, "GLIBCXX_");
  if (needed.version.empty()) {
    return probing::unknown("no library of LibTorch's says which libstdc++ it needs");
  }
  const fs::path file = found_for(site, "libstdc++.so.6");
  if (file.empty()) {
    return probing::no("libstdc++.so.6 is not found", "SYSTEM-LIBRARY-MISSING");
  }
  const std::string has =
      probing::newest_with_prefix(elf::file(file).version_definitions(), "GLIBCXX_");
  if (has.empty()) {
    return probing::unknown(file.string() + " does not say what it offers");
  }
  assay::probe_answer answer = probing::older(has, needed.version)
                                   ? too_old("the libstdc++ that is found first, " + file.string() +
                                                 ", offers GLIBCXX_" + has,
                                             needed, has, "SYSTEM-GLIBCXX-OLD")
                                   : probing::yes(file.string() + " offers GLIBCXX_" + has +
                                                  ", LibTorch needs " + needed.version);
  answer.evidence.push_back(needed.by.filename().string() + " needs GLIBCXX_" + needed.version);
  return answer;
}

assay::probe_answer look_at_linker(const assay::probe_site& site) {
  if (probing::is_windows && site.is_this_machine()) {
    return probing::unknown(probing::only_linux);
  }
  if (site.torch_dir.empty()) {
    return probing::unknown(no_torch);
  }
  const std::vector<fs::path> torch = torch_libraries(site.torch_dir);
  if (torch.empty()) {
    return probing::unknown("no LibTorch for Linux in " + site.torch_dir.string());
  }
  const closure all = load_closure(site, torch);
  assay::probe_answer answer;
  if (!all.missing.empty()) {
    const missing_library& first = all.missing.front();
    const std::string code = code_for(first, all);
    const bool wanted = gpu_of(site, code);
    answer = probing::no(
        first.name + " is not found, and " + first.needed_by.filename().string() + " needs it" +
            (all.missing.size() > 1 ? " (and " + std::to_string(all.missing.size() - 1) + " more)"
                                    : "") +
            (wanted ? "" : "; no GPU is here that would need it"),
        wanted ? code : "");
    constexpr std::size_t most = 20;
    for (const missing_library& one : all.missing) {
      if (answer.evidence.size() < most) {
        answer.evidence.push_back(one.needed_by.string() + " needs " + one.name + ": not found");
      }
      answer.values.emplace_back("missing", one.name);
    }
  } else if (!all.unreadable.empty()) {
    answer = probing::no("a library cannot be loaded: " + all.unreadable.front(),
                         "SYSTEM-LIBRARY-MISSING");
  } else if (!all.complete) {
    answer = probing::unknown("there are too many libraries to follow");
  } else {
    answer = probing::yes("all " + std::to_string(all.libraries.size()) +
                          " libraries that LibTorch loads are found");
  }
  answer.evidence.insert(answer.evidence.end(), all.unreadable.begin(), all.unreadable.end());
  return answer;
}

}  // namespace diag_system
