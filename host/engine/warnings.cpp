// SPDX-License-Identifier: Apache-2.0
#include "warnings.hpp"

#include <algorithm>

namespace assay::engine {

void warning_catcher::process(const c10::Warning& warning) {
  const auto known = std::find_if(caught_.begin(), caught_.end(),
                                  [&](const caught& c) { return c.text == warning.msg(); });
  if (known != caught_.end()) {
    ++known->count;
    return;
  }
  const c10::SourceLocation& at = warning.source_location();
  caught_.push_back({warning.msg(), std::string(at.file) + ":" + std::to_string(at.line), 1});
}

}  // namespace assay::engine
