// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/common/glob.hpp"

namespace assay {

/// Whether one of the globs names this GPU: the whole of "gfx90a:sramecc+:xnack-", or what stands
/// before its features.
inline bool any_names_architecture(const std::vector<std::string>& globs,
                                   std::string_view architecture) {
  const std::string_view bare = architecture.substr(0, architecture.find_first_of(": "));
  for (const std::string& glob : globs) {
    if (glob_match(glob, architecture) || glob_match(glob, bare)) {
      return true;
    }
  }
  return false;
}

}  // namespace assay
