// SPDX-License-Identifier: Apache-2.0
#include "host/common/plugin_files.hpp"

#include <algorithm>
#include <boost/dll/shared_library.hpp>
#include <system_error>

namespace assay {

namespace fs = std::filesystem;

const std::string& library_suffix() {
  static const std::string suffix = boost::dll::shared_library::suffix().string();
  return suffix;
}

std::string plugin_suffix() { return ".assay" + library_suffix(); }

bool named_like_a_plugin(const fs::path& file) {
  return file.filename().string().ends_with(plugin_suffix());
}

bool named_like_a_toml_plugin(const fs::path& file) {
  return file.filename().string().ends_with(".assay.toml");
}

std::vector<fs::path> libraries_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const bool library = entry.path().extension() == library_suffix();
    if (named_like_a_plugin(entry.path()) || (library && entry.is_regular_file(error))) {
      found.push_back(entry.path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<fs::path> toml_plugins_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (named_like_a_toml_plugin(entry.path())) {
      found.push_back(entry.path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace assay
