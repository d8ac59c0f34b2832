// SPDX-License-Identifier: Apache-2.0
#include "library_data.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include "library_environment.hpp"
#include "library_folders.hpp"
#include "tree.hpp"

namespace diag_rocm {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view hexadecimal = "0123456789abcdef";

/// What a library looks for: folders from its own, in order. A star is any one folder.
struct layout {
  std::string_view stem;  // of the library
  const char* variable;   // names the folder, before all others
  std::vector<fs::path> candidates;
};

/// The first folder that this path leads to.
fs::path follow(const fs::path& from, const fs::path& path) {
  fs::path at = from;
  for (auto part = path.begin(); part != path.end(); ++part) {
    if (*part != "*") {
      at /= *part;
      continue;
    }
    fs::path rest;
    for (auto more = std::next(part); more != path.end(); ++more) {
      rest /= *more;
    }
    for (const fs::path& folder : tree::entries(at)) {
      if (fs::path found = follow(folder, rest); !found.empty()) {
        return found;
      }
    }
    return {};
  }
  return tree::is_folder(at) ? at.lexically_normal() : fs::path();
}

data_folder find_folder(const layout& wanted, const assay::probe_site& site,
                        const environment& variables) {
  data_folder found;
  found.library = find_library(all_library_folders(site, variables), wanted.stem);
  if (const auto named = filled(variables, wanted.variable)) {
    found.named_by = wanted.variable;
    found.folder = site.at(*named);
    if (!tree::is_folder(found.folder)) {
      found.folder.clear();
    }
    return found;
  }
  if (found.library.empty()) {
    return found;
  }
  std::error_code error;
  const fs::path real = fs::canonical(found.library, error);
  for (const fs::path& library : {found.library, error ? found.library : real}) {
    for (const fs::path& candidate : wanted.candidates) {
      if (found.folder.empty()) {
        found.folder = follow(library.parent_path(), candidate);
      }
    }
  }
  return found;
}

/// Tensile's files, of rocBLAS and hipBLASLt alike.
void read_tensile(data_folder& data) {
  // Newer releases have a folder for each architecture in there.
  std::vector<fs::path> files = tree::entries(data.folder);
  for (const fs::path& folder : tree::entries(data.folder, "gfx")) {
    const auto more = tree::entries(folder);
    files.insert(files.end(), more.begin(), more.end());
  }
  for (const fs::path& file : files) {
    const std::string name = file.filename().string();
    data.plain_index =
        data.plain_index || name == "TensileLibrary.dat" || name == "TensileLibrary.yaml";
    const std::string architecture = architecture_in(name);
    if (architecture.empty() || tree::is_folder(file)) {
      continue;
    }
    target_files& of = data.targets[architecture];
    ++of.count;
    const std::string index = "_" + architecture + ".dat";
    of.index =
        of.index || name == "TensileLibrary_lazy" + index || name == "TensileLibrary" + index;
    if (name.starts_with("TensileLibrary_") && !name.starts_with("TensileLibrary_lazy_") &&
        name.find("fallback") == std::string::npos && name != "TensileLibrary" + index) {
      ++of.tuned;
    }
  }
}

}  // namespace

std::string architecture_in(std::string_view file_name) {
  const std::size_t at = file_name.rfind("gfx");
  if (at == std::string_view::npos) {
    return {};
  }
  const std::size_t end =
      std::min(file_name.find_first_not_of(hexadecimal, at + 3), file_name.size());
  return end < at + 6 ? std::string() : std::string(file_name.substr(at, end - at));
}

miopen_name read_miopen_name(std::string_view file_name) {
  miopen_name found;
  if (!file_name.starts_with("gfx")) {
    return found;
  }
  const std::size_t end = std::min(file_name.find_first_not_of(hexadecimal, 3), file_name.size());
  const std::string_view whole = file_name.substr(0, end);
  std::string_view rest = file_name.substr(end);
  // "_sramecc" and its kind may stand between architecture and number.
  const std::size_t dot = std::min(rest.find('.'), rest.size());
  const std::size_t line = rest.substr(0, dot).rfind('_');
  if (line != std::string_view::npos) {
    const std::string_view number = rest.substr(line + 1, dot - line - 1);
    std::from_chars(number.data(), number.data() + number.size(), found.compute_units);
    found.architecture = whole;
    return found;
  }
  // More than 64 compute units follow the name in hexadecimal: gfx9 and older have three figures,
  // newer ones four.
  const std::size_t name_length = whole.starts_with("gfx1") ? 7 : 6;
  if (whole.size() > name_length && rest.starts_with(".")) {
    const std::string_view number = whole.substr(name_length);
    std::from_chars(number.data(), number.data() + number.size(), found.compute_units, 16);
  }
  found.architecture = whole.substr(0, name_length);
  return found;
}

std::string data_folder::target_list() const {
  std::string list;
  for (const auto& [architecture, files] : targets) {
    if (files.index) {
      list += (list.empty() ? "" : ", ") + architecture;
    }
  }
  return list;
}

data_folder rocblas_data(const assay::probe_site& site, const environment& variables) {
  static const layout of{"librocblas",
                         "ROCBLAS_TENSILE_LIBPATH",
                         {"../../Tensile/library", "library", "../rocblas/library",
                          "rocblas/library", "rocblas/*/library"}};
  data_folder data = find_folder(of, site, variables);
  read_tensile(data);
  return data;
}

data_folder hipblaslt_data(const assay::probe_site& site, const environment& variables) {
  static const layout of{"libhipblaslt",
                         "HIPBLASLT_TENSILE_LIBPATH",
                         {"hipblaslt/library", "../hipblaslt/library", "library"}};
  data_folder data = find_folder(of, site, variables);
  read_tensile(data);
  return data;
}

data_folder miopen_data(const assay::probe_site& site, const environment& variables) {
  static const layout of{
      "libMIOpen", "MIOPEN_SYSTEM_DB_PATH", {"../share/miopen/db", "../../share/miopen/db", "db"}};
  data_folder data = find_folder(of, site, variables);
  if (data.folder.empty() && data.named_by.empty() && data.library.extension() == ".dll") {
    data.folder = data.library.parent_path();
  }
  for (const fs::path& file : tree::entries(data.folder, "gfx")) {
    const miopen_name name = read_miopen_name(file.filename().string());
    if (!name.architecture.empty() && tree::is_file(file)) {
      target_files& of_target = data.targets[name.architecture];
      ++of_target.count;
      of_target.index = true;
      of_target.tuned += name.compute_units > 0 ? 1 : 0;
    }
  }
  return data;
}

}  // namespace diag_rocm
