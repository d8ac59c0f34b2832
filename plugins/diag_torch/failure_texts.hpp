// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <assay/diagnostics.hpp>

#include <array>
#include <string_view>

namespace diag_torch {

/// The texts of a failure in the order in which they count.
inline std::array<std::string_view, 6> texts_of(const assay::failure& f) {
  return {f.error_text, f.trace, f.stderr_text, f.warnings, f.stdout_text, f.log};
}

}  // namespace diag_torch
