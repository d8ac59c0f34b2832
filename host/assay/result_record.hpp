// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "schedule.hpp"
#include "worker_process.hpp"

namespace assay {

/// The result of a check whose worker gave none. `ending`: how the worker ended, where it did so
/// itself.
nlohmann::json fault_result(worker_process::event what, const std::string& phase, double timeout_s,
                            const std::optional<platform::ending>& ending);

/// The `result` line of a check that is not run, since `missing` is, which it requires.
nlohmann::json skipped_result(const planned_check& check, const std::string& missing);

/// A dtype that is not the check's own, and that the operator does not have on this device, is
/// skipped and no error.
void skip_unsupported_dtype(nlohmann::json& result, const planned_check& check);

/// The members `on_device` and `note`, from the others.
void add_findings(nlohmann::json& result, const planned_check& check);

}  // namespace assay
