// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>

#include "host/store/run_store.hpp"
#include "options.hpp"
#include "report_paper.hpp"

namespace assay {

/// `assay baseline list|show|remove|export|import`. Throws usage_error for what is not there or
/// cannot be read, tool_error where the store or a file refuses.
int baseline_command(const baseline_request& request, report_paper& paper);

/// Throws store_error and results_error.
saved_run read_kept_run(const run_store& store, const stored_run& run);

/// "before@2, kept 2026-11-30T12:00:00Z"
std::string name_of(const stored_run& run);

}  // namespace assay
