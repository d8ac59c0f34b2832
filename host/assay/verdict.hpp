// SPDX-License-Identifier: Apache-2.0
//
// From what a check left behind to the judgement of it, link by link: docs/evidence-format.md, the
// member `verdict`. Nothing here asks a device: a verdict can be worked out again from a result
// file.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace assay {

/// What is judged. Every record may be null where there is none.
struct judged_run {
  const nlohmann::json& check;     // the `check` record of docs/architecture.md
  const nlohmann::json& result;    // the `result` line
  const nlohmann::json& gathered;  // status, phase, error and evidence of the second run
  const nlohmann::json& ceilings;  // the `ceilings` line of the device
  const nlohmann::json& baseline;  // the `result` line of the same check on the CPU, as large
  std::string device_name;
  std::string architecture;
};

/// The member `verdict`.
nlohmann::json judge(const judged_run& run);

/// Whether a check reached more than the device was measured to be able to: one of both numbers is
/// wrong.
bool above_ceiling(const nlohmann::json& verdict);

/// Microseconds for which one call keeps the device at work: the kernels that the profiler saw,
/// else the event pair where it holds device work alone, else, on the CPU, the time of the call.
std::optional<double> device_time_us(const nlohmann::json& result, const nlohmann::json& evidence);

}  // namespace assay
