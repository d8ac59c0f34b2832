// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "host/diagnosis/diagnose.hpp"
#include "report_paper.hpp"

namespace assay {

/// What was found in one log or on one machine, the best first: what each is, why, what proves it,
/// what to do on `platform` ("": on each). Consequences stand below their cause, in a line.
void print_found(report_paper& paper, const std::vector<found_diagnosis>& found,
                 const std::string& platform);

/// Those that a probe of this machine refuted: the log may be of another environment.
void print_withdrawn(report_paper& paper, const std::vector<found_diagnosis>& found);

/// The diagnoses of a run: each code once, with the checks that share a reason, and the failed
/// checks that nothing explains. Prints nothing when there is nothing to say.
void print_diagnoses(report_paper& wide, const collected_run& run);

/// "ROCM-HIPRTC-HEADERS (certain)" for the best diagnosis of a check; "" when there is none.
std::string best_diagnosis(const collected_run& run, const collected_run::entry& entry);

/// "linux", "wsl" or "windows": what this process runs on.
std::string this_platform();

}  // namespace assay
