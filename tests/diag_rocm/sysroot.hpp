// SPDX-License-Identifier: Apache-2.0
//
// Makes the tree of a machine that is not here, from a short description (trees/README.md).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace diag_rocm::testing {

/// Throws std::runtime_error for a line that it does not understand.
void make_sysroot(const std::filesystem::path& description, const std::filesystem::path& folder);

/// The same from lines at hand; `like` reads files of `descriptions`.
void make_sysroot(std::string_view lines, const std::filesystem::path& descriptions,
                  const std::filesystem::path& folder);

}  // namespace diag_rocm::testing
