// SPDX-License-Identifier: Apache-2.0
//
// Variables that slow, break or change what the libraries of ROCm do, as data.
#pragma once

#include <assay/diagnostics.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "environment.hpp"

namespace diag_rocm {

struct remark {
  std::string setting{};  // "AMD_LOG_LEVEL=4"
  std::string text{};     // "logs every call"
  std::string_view code{};
  std::vector<std::string> names{};  // of the variables to unset
};

namespace codes {
inline constexpr std::string_view broken = "ROCM-ENVIRONMENT-BROKEN";
inline constexpr std::string_view hiprtc_tmpdir = "ROCM-HIPRTC-TMPDIR";
inline constexpr std::string_view deletes = "ROCM-ENVIRONMENT-DELETES";
inline constexpr std::string_view results = "ROCM-ENVIRONMENT-RESULTS";
inline constexpr std::string_view conflict = "ROCM-ENVIRONMENT-CONFLICT";
inline constexpr std::string_view slow = "ROCM-ENVIRONMENT-SLOW";
inline constexpr std::string_view ignored = "ROCM-ENVIRONMENT-IGNORED";
}  // namespace codes

/// What is to say of these variables, the gravest first. `architecture` of the GPU may be empty.
[[nodiscard]] std::vector<remark> remarks_on(const environment& variables,
                                             const assay::probe_site& site,
                                             std::string_view architecture);

}  // namespace diag_rocm
