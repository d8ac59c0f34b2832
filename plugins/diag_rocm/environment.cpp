// SPDX-License-Identifier: Apache-2.0
#include "environment.hpp"

#include "platform.hpp"
#include "text.hpp"

namespace diag_rocm {

environment environment_of(const assay::probe_site& site) {
  if (site.is_this_machine()) {
    return platform::environment();
  }
  environment variables;
  const file_text read = read_file(site.at("/environment"));
  for (const std::string_view line : lines_of(read.text)) {
    const std::size_t equals = line.find('=');
    if (equals != std::string_view::npos) {
      variables.emplace(trimmed(line.substr(0, equals)), trimmed(line.substr(equals + 1)));
    }
  }
  return variables;
}

bool is_set(const environment& from, const std::string& name) { return from.contains(name); }

std::string value_of(const environment& from, const std::string& name) {
  const auto at = from.find(name);
  return at == from.end() ? std::string() : at->second;
}

std::filesystem::path path_in(const assay::probe_site& site, std::string_view value) {
  // at() would lose what is before the first separator: a drive, or "./".
  return site.is_this_machine() ? std::filesystem::path(value) : site.at(value);
}

}  // namespace diag_rocm
