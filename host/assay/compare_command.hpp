// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host/results/compare.hpp"
#include "options.hpp"
#include "report_paper.hpp"

namespace assay {

/// What --fail-on says: "error", "fallback", "path", "correctness", "slower=10%", "none"; all of
/// them, slower=10% included, where the list is empty. Throws usage_error.
regression_rules parse_fail_on(const std::vector<std::string>& words);

/// `assay compare`: reads both sides and prints what changed. Answers the exit status: regression
/// where something became worse that --fail-on names. Throws usage_error for what cannot be read.
int compare_command(const compare_request& request, report_paper& paper);

/// The comparison for people.
void print_comparison(report_paper& paper, const comparison& found, const regression_rules& rules);

/// The comparison as docs/results-format.md describes it.
nlohmann::json comparison_as_json(const comparison& found, const regression_rules& rules);

}  // namespace assay
