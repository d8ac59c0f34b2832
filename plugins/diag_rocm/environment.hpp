// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <assay/diagnostics.hpp>

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "common/probing.hpp"

namespace diag_rocm {

using environment = probing::variables;
using probing::value_of;

/// Where a probe takes the environment variables from.
using environment_source = std::function<environment(const assay::probe_site&)>;

/// This process's; below another root those of the file ROOT/environment (NAME=value lines), for
/// what this process was started with says nothing about another machine.
[[nodiscard]] environment environment_of(const assay::probe_site& site);

/// Whether the variable is there, also with an empty value.
[[nodiscard]] bool is_set(const environment& from, const std::string& name);

/// A path that a variable holds, on the machine that is looked at.
[[nodiscard]] std::filesystem::path path_in(const assay::probe_site& site, std::string_view value);

}  // namespace diag_rocm
