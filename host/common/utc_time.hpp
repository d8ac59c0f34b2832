// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/chrono.h>

#include <ctime>
#include <string>

namespace assay {

/// "2026-11-30T12:00:00Z".
inline std::string utc_now() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

/// "2026-11-30".
inline std::string utc_today() {
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
}

}  // namespace assay
