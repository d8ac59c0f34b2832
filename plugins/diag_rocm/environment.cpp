// SPDX-License-Identifier: Apache-2.0
#include "environment.hpp"

namespace diag_rocm {

environment environment_of(const assay::probe_site& site) { return probing::variables_of(site); }

bool is_set(const environment& from, const std::string& name) { return from.contains(name); }

std::filesystem::path path_in(const assay::probe_site& site, std::string_view value) {
  // at() would lose what is before the first separator: a drive, or "./".
  return site.is_this_machine() ? std::filesystem::path(value) : site.at(value);
}

}  // namespace diag_rocm
