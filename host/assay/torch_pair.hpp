// SPDX-License-Identifier: Apache-2.0
//
// assay run --torch OLD --torch NEW: the same checks with two LibTorch, taking turns.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "report_paper.hpp"
#include "run_options.hpp"
#include "supervisor.hpp"

namespace assay {

/// "run.jsonl" -> "run-old.jsonl" and "run-new.jsonl".
std::array<std::filesystem::path, 2> files_of_both(const std::filesystem::path& file);

/// Runs both, prints the report of each and then what differs. `engines`: of the old and the new.
/// Answers the exit status: that of a run that did not come to its end, else a regression's, else
/// the new one's.
int run_torch_pair(const installation& here, const run_options& options,
                   const std::array<engine_choice, 2>& engines,
                   const std::vector<std::string>& command_line, report_paper& paper);

}  // namespace assay
