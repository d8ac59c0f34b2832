// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "host/diagnosis/diagnose.hpp"

namespace assay::testing {

/// The rule files of the build tree, with what was refused or does not hang together.
struct shipped {
  knowledge known;
  std::vector<std::string> complaints;
};
const shipped& shipped_rules();

/// The class of the best answer, or "unknown".
struct explanation {
  std::vector<found_diagnosis> found;

  [[nodiscard]] bool recognised() const { return !found.empty() && !found.front().withdrawn; }
  [[nodiscard]] std::string klass() const {
    return recognised() ? found.front().entry->klass : "unknown";
  }
  [[nodiscard]] bool is_certain() const {
    return recognised() && found.front().confidence == confidence::certain;
  }
  /// All answers, a line each, for whoever reads why a test failed.
  [[nodiscard]] std::string all() const;
};

/// What `assay explain` makes of a log, and `assay run` of further facts. `probes`: id and state.
explanation explain_text(std::string_view log, failure_facts facts = {},
                         const std::map<std::string, std::string>& probes = {});

}  // namespace assay::testing
