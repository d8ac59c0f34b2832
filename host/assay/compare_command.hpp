// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host/results/compare.hpp"
#include "options.hpp"
#include "report_paper.hpp"

namespace assay {

/// What --fail-on says: "error", "fallback", "path", "correctness", "slower=5%", "none"; all of
/// them, slower=5% included, where the list is empty. Throws usage_error.
regression_rules parse_fail_on(const std::vector<std::string>& words);

/// What --fail-on and --across-devices ask for together. Throws as parse_fail_on().
regression_rules rules_of(const run_options& options);

/// `assay compare`: reads both sides and prints what changed. Answers the exit status: regression
/// where something became worse that --fail-on names. Throws usage_error for what cannot be read.
int compare_command(const compare_request& request, report_paper& paper);

/// The comparison for people.
void print_comparison(report_paper& paper, const comparison& found, const regression_rules& rules);

/// A line each: what was not compared, which test and which threshold spoke.
std::vector<std::string> how_times_were_judged(const comparison& found,
                                               const regression_rules& rules);

/// "Compare: no regression | 55 checks in both | ..."
std::string last_line(const comparison& found);

/// The comparison as docs/results-format.md describes it.
nlohmann::json comparison_as_json(const comparison& found, const regression_rules& rules);

/// For a merge request or a bug report: what changed in tables, worst first, the environment in a
/// folded block; at most `most_bytes`, and it says what it left out.
std::string comparison_as_markdown(const comparison& found, const regression_rules& rules,
                                   std::size_t most_bytes = 65'536);

/// JUnit XML: a test case for each check that something is said of, a failure where that is a
/// regression by the rules; and one for all other checks together.
std::string comparison_as_junit(const comparison& found, const regression_rules& rules);

}  // namespace assay
