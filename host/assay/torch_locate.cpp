// SPDX-License-Identifier: Apache-2.0
#include "torch_locate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "errors.hpp"
#include "python_torch.hpp"

namespace assay {
namespace {

namespace fs = std::filesystem;

#if defined(_WIN32)
constexpr const char* library_prefix = "";
constexpr const char* library_suffix = ".dll";
constexpr const char* rocm_library_folder = "bin";
#elif defined(__APPLE__)
constexpr const char* library_prefix = "lib";
constexpr const char* library_suffix = ".dylib";
constexpr const char* rocm_library_folder = "lib";
#else
constexpr const char* library_prefix = "lib";
constexpr const char* library_suffix = ".so";
constexpr const char* rocm_library_folder = "lib";
#endif

std::string library_name(const std::string& stem) { return library_prefix + stem + library_suffix; }

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

bool has_torch(const fs::path& dir) { return is_file(dir / "lib" / library_name("torch_cpu")); }

std::string file_text(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::string first_line(const fs::path& path) {
  std::ifstream stream(path);
  std::string line;
  std::getline(stream, line);
  while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())) != 0) {
    line.pop_back();
  }
  return line;
}

/// What a version.py assigns to `name` as a string: __version__ = '2.11.0+cu130',
/// hip: Optional[str] = '7.2'. "" for None and for what is not there.
std::string python_string(const std::string& text, std::string_view name) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.compare(0, name.size(), name) != 0) {
      continue;
    }
    const char next = line.size() > name.size() ? line[name.size()] : '\0';
    const auto equals = line.find('=');
    if ((next != ' ' && next != ':' && next != '=') || equals == std::string::npos) {
      continue;
    }
    const auto open = line.find_first_of("'\"", equals);
    const auto close = open == std::string::npos ? open : line.find(line[open], open + 1);
    return close == std::string::npos ? "" : line.substr(open + 1, close - open - 1);
  }
  return "";
}

/// "2.11.0" from the TORCH_VERSION_MAJOR, _MINOR and _PATCH macros.
std::string header_version(const fs::path& header) {
  const std::string text = file_text(header);
  std::string version;
  for (const char* part : {"MAJOR", "MINOR", "PATCH"}) {
    const std::string define = std::string("#define TORCH_VERSION_") + part + " ";
    const auto at = text.find(define);
    if (at == std::string::npos) {
      return "";
    }
    const auto begin = text.find_first_not_of(' ', at + define.size());
    const auto end = std::min(text.find_first_not_of("0123456789", begin), text.size());
    version += (version.empty() ? "" : ".") + text.substr(begin, end - begin);
  }
  return version;
}

std::string version_of(const fs::path& dir, const std::string& version_py) {
  std::string version = python_string(version_py, "__version__");
  for (const char* header :
       {"include/torch/headeronly/version.h", "include/torch/csrc/api/include/torch/version.h"}) {
    if (version.empty()) {
      version = header_version(dir / header);
    }
  }
  return version.empty() ? first_line(dir / "build-version") : version;
}

/// The torch folder that a user's word for it means, or nothing.
std::optional<fs::path> torch_folder(const fs::path& named) {
  if (has_torch(named)) {
    return named;
  }
  if (named.filename() == "lib" && has_torch(named.parent_path())) {
    return named.parent_path();
  }
  if (has_torch(named / "torch")) {
    return named / "torch";
  }
  const auto torch = torch_in_prefix(named);
  return torch && has_torch(*torch) ? torch : std::nullopt;
}

std::vector<fs::path> rocm_wheel_folders(const fs::path& dir) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(dir.parent_path(), error)) {
    const std::string name = entry.path().filename().string();
    const fs::path libraries = entry.path() / rocm_library_folder;
    std::error_code ignored;
    if ((name == "_rocm_sdk_core" || name.rfind("_rocm_sdk_libraries", 0) == 0) &&
        fs::is_directory(libraries, ignored)) {
      folders.push_back(libraries);
    }
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

/// {2, 11} of "2.11.0+cu130" and of "2.11"; nothing where the text does not begin so.
std::optional<std::pair<int, int>> major_minor(const std::string& version) {
  std::istringstream stream(version);
  int major = 0;
  int minor = 0;
  char dot = 0;
  if (!(stream >> major >> dot >> minor) || dot != '.') {
    return std::nullopt;
  }
  return std::pair{major, minor};
}

std::string have_text(const std::vector<engine_install>& engines) {
  std::string text;
  for (const engine_install& engine : engines) {
    text += (text.empty() ? "" : ", ") + engine.torch_version;
  }
  return text.empty() ? "none" : text;
}

engine_choice engine_for(torch_install torch, const std::vector<engine_install>& engines,
                         bool asked_for) {
  const auto wanted = major_minor(torch.version);
  for (const engine_install& engine : engines) {
    if (wanted && major_minor(engine.torch_version) == wanted) {
      return {std::move(torch), engine.library};
    }
  }
  throw tool_error(
      fmt::format("no engine for LibTorch {} ({}, {}); tools/build-engine {} makes one{}; have: {}",
                  torch.version, torch.dir.string(), torch.found_by, torch.dir.string(),
                  asked_for ? "" : ", --torch DIR picks another LibTorch", have_text(engines)));
}

}  // namespace

std::vector<engine_install> installed_engines(const fs::path& libexec_dir) {
  constexpr std::string_view stem = "torch-";
  std::vector<engine_install> engines;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(libexec_dir, error)) {
    const std::string name = entry.path().filename().string();
    const fs::path library = entry.path() / (std::string("assay-engine") + library_suffix);
    if (name.rfind(stem, 0) != 0 || !major_minor(name.substr(stem.size())) || !is_file(library)) {
      continue;
    }
    engine_install engine{name.substr(stem.size()), library, std::nullopt};
    const std::string built_with = first_line(entry.path() / "built-with");
    if (!built_with.empty()) {
      engine.built_with = built_with;
    }
    engines.push_back(std::move(engine));
  }
  std::sort(engines.begin(), engines.end(), [](const auto& a, const auto& b) {
    return major_minor(a.torch_version) > major_minor(b.torch_version);
  });
  return engines;
}

torch_install inspect_torch(const fs::path& dir, const std::string& found_by) {
  fs::path named = fs::absolute(dir).lexically_normal();
  if (named.filename().empty() && named.has_relative_path()) {
    named = named.parent_path();  // a closing slash
  }
  const auto folder = torch_folder(named);
  if (!folder) {
    throw usage_error(fmt::format(
        "no LibTorch in {} ({}): neither lib/{} nor torch/lib/{} is there; name the folder of the "
        "torch package, its lib folder, a site-packages folder or a virtual environment",
        named.string(), found_by, library_name("torch_cpu"), library_name("torch_cpu")));
  }
  torch_install torch;
  torch.dir = *folder;
  torch.found_by = found_by;
  const std::string version_py = file_text(torch.dir / "version.py");
  torch.version = version_of(torch.dir, version_py);
  if (!major_minor(torch.version)) {
    throw usage_error(fmt::format(
        "the LibTorch in {} ({}) does not tell its version: version.py, include/ and build-version "
        "are missing or unreadable; name a complete one",
        torch.dir.string(), found_by));
  }
  torch.git_hash = python_string(version_py, "git_version");
  if (torch.git_hash.empty()) {
    torch.git_hash = first_line(torch.dir / "build-hash");
  }
  const fs::path lib = torch.dir / "lib";
  // Canonical: a folder of links (to a LibTorch with another GPU library, say) must lead to the one
  // copy that the GPU library itself needs, else the process would hold two.
  for (const char* stem : {"c10", "torch_cpu"}) {
    const fs::path link = lib / library_name(stem);
    std::error_code error;
    const fs::path library = fs::canonical(link, error);
    if (error) {
      throw usage_error(fmt::format("the LibTorch in {} ({}) has no usable {}; name a complete one",
                                    torch.dir.string(), found_by, link.filename().string()));
    }
    torch.libraries.push_back(library);
  }
  const fs::path hip = lib / library_name("torch_hip");
  const fs::path cuda = lib / library_name("torch_cuda");
  const bool both = is_file(hip) && is_file(cuda);
  if (is_file(hip) && (!both || !python_string(version_py, "hip").empty())) {
    torch.build = "rocm";
    torch.backend = hip;
    torch.library_dirs = rocm_wheel_folders(torch.dir);
  } else if (is_file(cuda)) {
    torch.build = "cuda";
    torch.backend = cuda;
  } else {
    torch.build = "cpu";
  }
  return torch;
}

torch_install find_torch(const std::optional<torch_request>& requested, const fs::path& libexec_dir,
                         const std::map<std::string, std::string>& variables) {
  if (requested) {
    return inspect_torch(requested->dir, requested->origin);
  }
  if (const auto active = active_python_torch(variables)) {
    try {
      return inspect_torch(*active, "the active Python environment");
    } catch (const usage_error& error) {
      // Nobody named it, so it is no wrong usage.
      throw tool_error(fmt::format("{}, with --torch DIR", error.what()));
    }
  }
  const std::vector<engine_install> engines = installed_engines(libexec_dir);
  for (const engine_install& engine : engines) {
    if (engine.built_with && torch_folder(*engine.built_with)) {
      torch_install torch = inspect_torch(*engine.built_with, "the engine's own");
      if (major_minor(torch.version) == major_minor(engine.torch_version)) {
        return torch;
      }
    }
  }
  throw tool_error(fmt::format(
      "no LibTorch found: the active Python environment has no torch, and no engine's own LibTorch "
      "is there (have engines for: {}); tools/run installs one, or --torch DIR names one",
      have_text(engines)));
}

engine_choice choose_engine(const std::optional<torch_request>& requested,
                            const fs::path& libexec_dir,
                            const std::map<std::string, std::string>& variables) {
  return engine_for(find_torch(requested, libexec_dir, variables), installed_engines(libexec_dir),
                    requested.has_value());
}

}  // namespace assay
