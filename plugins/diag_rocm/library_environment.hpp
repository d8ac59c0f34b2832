// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "environment.hpp"

namespace diag_rocm {

/// The variable's text where it is set to something.
inline std::optional<std::string> filled(const environment& variables, const std::string& name) {
  std::string text = value_of(variables, name);
  return text.empty() ? std::nullopt : std::optional<std::string>(std::move(text));
}

}  // namespace diag_rocm
