// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "collected_run.hpp"
#include "options.hpp"
#include "redaction.hpp"
#include "report_paper.hpp"
#include "result_records.hpp"

namespace assay {

/// `assay report`: shows a result file again without running anything. Throws usage_error.
int report_command(const report_request& request, report_paper& paper);

/// What one pastes into a bug report: verdicts, failing checks with diagnoses and the command that
/// repeats each, the environment in a folded block. At most `most_bytes`, and it says what it left
/// out. Nothing personal is in it.
std::string markdown_report(const collected_run& run, const std::vector<std::string>& remarks,
                            const redaction& private_names, std::size_t most_bytes = 65'536);

/// A cell of a CSV line, quoted where it must be; RFC 4180.
std::string csv_cell(const std::string& text);

/// One line a check, with a header; RFC 4180.
std::string csv_report(const collected_run& run);

}  // namespace assay
