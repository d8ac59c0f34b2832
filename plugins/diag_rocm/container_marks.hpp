// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <assay/diagnostics.hpp>

#include <optional>
#include <string>

#include "environment.hpp"

namespace diag_rocm {

struct container_marks {
  std::string kind{};      // "docker"
  std::string evidence{};  // what shows it
};

/// Nothing on bare metal, as far as can be seen.
[[nodiscard]] std::optional<container_marks> container_of(const assay::probe_site& site,
                                                          const environment& variables);

}  // namespace diag_rocm
