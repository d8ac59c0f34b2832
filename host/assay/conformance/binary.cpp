// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <boost/dll/library_info.hpp>
#include <exception>
#include <string_view>

#include "examine.hpp"
#include "host/common/elf_file.hpp"
#include "host/platform/platform.hpp"

namespace assay::conformance {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view stamp_symbol = "assay_plugin_stamp";
constexpr std::string_view entry_symbol = "assay_plugin_entry";

/// What every Linux system has, and what a C or C++ compiler brings.
bool is_everywhere(const std::string& library) {
  static constexpr std::string_view known[] = {
      "libc.so.",       "libm.so.",     "libdl.so.", "libpthread.so.", "librt.so.",
      "libstdc++.so.6", "libgcc_s.so.", "ld-linux",  "libc.musl",      "linux-vdso"};
  return std::any_of(std::begin(known), std::end(known),
                     [&](std::string_view start) { return library.starts_with(start); });
}

bool is_torch(const std::string& library) {
  return library.starts_with("libtorch") || library.starts_with("libc10");
}

void look_at_exports(examined_file& one, std::vector<std::string> names) {
  static constexpr std::string_view of_the_linker[] = {"_init", "_fini", "__bss_start", "_edata",
                                                       "_end"};
  std::erase_if(names, [](const std::string& name) {
    return name == stamp_symbol || name == entry_symbol ||
           std::find(std::begin(of_the_linker), std::end(of_the_linker), name) !=
               std::end(of_the_linker);
  });
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  if (names.empty()) {
    return;
  }
  constexpr std::size_t most = 3;
  const std::size_t count = names.size();
  names.resize(std::min(count, most));
  one.add(level::warning, "exports", "",
          fmt::format(
              "it exports {} name{} beside assay_plugin_stamp and assay_plugin_entry ({}{})", count,
              count == 1 ? "" : "s", fmt::join(names, ", "), count > most ? ", ..." : ""),
          "another library of the process can be bound to them, or they to it",
          "build it with assay_add_plugin(), or with -fvisibility=hidden and a version script");
}

void look_at_path(examined_file& one, const char* tag, const std::string& entry) {
  const auto warn = [&](const std::string& what) {
    one.add(level::warning, "library-path", "", fmt::format("its {} has {}", tag, what),
            "whoever can write there chooses the libraries that it loads",
            "link without it, or with $ORIGIN");
  };
  if (entry.empty()) {
    return warn("an empty entry, which means the current folder");
  }
  if (entry.starts_with("$ORIGIN") || entry.starts_with("${ORIGIN}")) {
    return;
  }
  if (entry.front() != '/') {
    return warn(fmt::format("the relative entry '{}', which starts at the current folder", entry));
  }
  std::error_code error;
  const auto rights = fs::status(entry, error).permissions();
  if (!error && (rights & fs::perms::others_write) != fs::perms::none) {
    warn(fmt::format("{}, which everybody may write", entry));
  }
}

void look_at_paths(examined_file& one, const char* tag, const std::string& text) {
  if (text.empty()) {
    return;
  }
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(':', begin), text.size());
    look_at_path(one, tag, text.substr(begin, end - begin));
    begin = end + 1;
  }
}

void look_at_libraries(examined_file& one, const elf::file& file) {
  std::vector<std::string> foreign;
  for (const std::string& library : file.needed()) {
    if (is_torch(library)) {
      one.add(level::error, "links-torch", "", fmt::format("it is linked with {}", library),
              "it would load with one LibTorch version only, and not at all without LibTorch",
              "link nothing of LibTorch: a check names its operators; operators of your own "
              "belong in a library that operator_library() names");
    } else if (!is_everywhere(library)) {
      foreign.push_back(library);
    }
  }
  if (!foreign.empty()) {
    one.add(level::note, "needs-library", "", fmt::format("it needs {}", fmt::join(foreign, ", ")),
            "a machine without it refuses the plugin",
            "ship it beside the plugin, or open it "
            "when it is first used");
  }
}

std::string newest(const elf::version_need& need) {
  const auto number = [](const std::string& version) {
    std::vector<int> parts;
    for (const char c : version) {
      if (c >= '0' && c <= '9') {
        if (parts.empty()) {
          parts.push_back(0);
        }
        parts.back() = parts.back() * 10 + (c - '0');
      } else if (!parts.empty()) {
        parts.push_back(0);
      }
    }
    return parts;
  };
  const auto last = std::max_element(
      need.versions.begin(), need.versions.end(),
      [&](const std::string& a, const std::string& b) { return number(a) < number(b); });
  return last == need.versions.end() ? "" : fmt::format("{} ({})", need.library, *last);
}

void look_at_elf(examined_file& one) {
  const elf::file file(one.file);
  std::vector<std::string> exported;
  for (const elf::symbol& symbol : file.dynamic_symbols()) {
    if (symbol.defined) {
      exported.push_back(symbol.name);
    }
  }
  look_at_exports(one, std::move(exported));
  look_at_libraries(one, file);
  look_at_paths(one, "RPATH", file.rpath());
  look_at_paths(one, "RUNPATH", file.runpath());
  if (file.wants_executable_stack()) {
    one.add(level::warning, "executable-stack", "", "it asks for an executable stack",
            "hardened systems refuse such a library, and on the others a bug is worth more to an "
            "attacker",
            "link with -Wl,-z,noexecstack; assembler files need a .note.GNU-stack section");
  }
  std::vector<std::string> needs;
  for (const elf::version_need& need : file.version_needs()) {
    needs.push_back(newest(need));
  }
  if (!needs.empty()) {
    one.facts = fmt::format("needs {}", fmt::join(needs, ", "));
  }
}

}  // namespace

void examine_binary(examined_file& one) {
  try {
    look_at_elf(one);
  } catch (const elf::error&) {
    // Another system's library: its names can be read all the same. What is no library at all is
    // the loader's finding.
    try {
      boost::dll::library_info info(one.file);
      look_at_exports(one, info.symbols());
    } catch (const std::exception&) {
      return;
    }
  }
}

}  // namespace assay::conformance
