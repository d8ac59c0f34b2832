// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <assay/diagnostics.hpp>
#include <filesystem>
#include <functional>
#include <memory>

#include "environment.hpp"
#include "library_platform.hpp"

namespace diag_rocm {

/// What the file systems answer; tests bring their own.
struct file_access {
  std::function<bool(const std::filesystem::path&)> may_write = platform::may_write;
  std::function<std::uintmax_t(const std::filesystem::path&)> free_bytes =
      [](const std::filesystem::path& path) {
        std::error_code error;
        const auto space = std::filesystem::space(path, error);
        return error ? static_cast<std::uintmax_t>(-1) : space.available;
      };
};

/// rocm.caches
std::unique_ptr<assay::probe> make_caches(environment_source source = environment_of,
                                          file_access access = {});

}  // namespace diag_rocm
