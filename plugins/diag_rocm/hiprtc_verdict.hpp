// SPDX-License-Identifier: Apache-2.0
//
// What a failed run-time compilation means, from its log.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace diag_rocm {

struct hiprtc_verdict {
  std::string finding{};  // a code of the catalogue
  std::string fact{};     // one line: what it means
  std::vector<std::string> evidence{};
};

/// The scratch folder is named by whoever knows it: `scratch_fault` says what is wrong with it, and
/// is empty where nothing is.
hiprtc_verdict judge_hiprtc_log(std::string_view log, std::string_view scratch_fault = {});

}  // namespace diag_rocm
