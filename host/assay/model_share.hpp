// SPDX-License-Identifier: Apache-2.0
//
// What the calls of a recorded model cost on this machine, by operator: the `model` records of
// docs/results-format.md.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "collected_run.hpp"

namespace assay {

/// One record for each trace and device (and dtype, where a check ran in several). `traces` are the
/// worker's records: which check stands for which calls. Pure.
std::vector<nlohmann::json> share_of_model(const std::vector<nlohmann::json>& traces,
                                           const std::vector<collected_run::entry>& entries);

}  // namespace assay
