// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "report_paper.hpp"

namespace assay {

/// A diagnosis (docs/results-format.md) for people: what it is, why, what proves it, what to do on
/// `platform` ("": on each).
void print_diagnosis(report_paper& paper, const nlohmann::json& diagnosis,
                     const std::string& platform);

/// Why a diagnosis that a probe refuted is none, in a line.
std::string withdrawn_text(const nlohmann::json& diagnosis);

/// The diagnoses of a run: each once, with the checks that share it, and the failed checks that
/// nothing explains. Prints nothing when there is nothing to say.
void print_diagnoses(report_paper& paper, const collected_run& run);

/// "ROCM-HIPRTC-HEADERS (certain)" for the best diagnosis of a check; "" when there is none.
std::string best_diagnosis(const collected_run& run, const collected_run::entry& entry);

/// "linux", "wsl" or "windows": what this process runs on.
std::string this_platform();

}  // namespace assay
