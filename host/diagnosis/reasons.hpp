// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "diagnose.hpp"

namespace assay {

/// Failures that have one diagnosis, and for the same reason as far as can be seen: the same probe
/// decided it, or the same lines show it once numbers, addresses and the checks' own names are left
/// out. The same code alone is not the same cause: numbers may be wrong in two kernels.
class shared_reasons {
 public:
  struct reason {
    const found_diagnosis* diagnosis = nullptr;  // the best founded of them
    std::set<std::string> evidence;              // its kind
    nlohmann::json checks = nlohmann::json::array();
  };

  /// `d` must outlive this. `check`: as in the `checks` of docs/results-format.md.
  void add(const found_diagnosis& d, const failure_facts& facts, nlohmann::json check);

  /// In the order of diagnoser::settle().
  [[nodiscard]] std::vector<reason> in_order() const;

 private:
  std::vector<reason> reasons_;
};

/// The lines without what differs from check to check.
std::set<std::string> kind_of_evidence(const found_diagnosis& d, const failure_facts& facts);

}  // namespace assay
