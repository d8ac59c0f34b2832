// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <assay/diagnostics.hpp>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>

namespace diag_torch {

/// The texts of a failure in the order in which they count.
inline std::array<std::string_view, 6> texts_of(const assay::failure& f) {
  return {f.error_text, f.trace, f.stderr_text, f.warnings, f.stdout_text, f.log};
}

inline bool has_any(std::string_view text, std::initializer_list<std::string_view> tokens) {
  return std::any_of(tokens.begin(), tokens.end(), [&](std::string_view token) {
    return text.find(token) != std::string_view::npos;
  });
}

}  // namespace diag_torch
