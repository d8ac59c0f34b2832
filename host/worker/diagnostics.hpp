// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <assay/abi.h>

#include <nlohmann/json_fwd.hpp>

namespace assay::worker {

/// Asks a probe and answers the `probe` record of docs/architecture.md. `command` has the members
/// of assay_site, and the probe's `id`.
nlohmann::json ask_probe(const assay_probe& probe, const nlohmann::json& command);

/// Asks a classifier and answers the `classified` record. `command` has its `id`, and `failure`
/// with the members of assay_failure as texts; those that are missing are NULL.
nlohmann::json ask_classifier(const assay_classifier& classifier, const nlohmann::json& command);

}  // namespace assay::worker
