// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <iosfwd>

#include "run_options.hpp"
#include "supervisor.hpp"

namespace assay {

/// `assay list --why`: of each plugin, category and check whether it is on, and which line decided;
/// as JSON, the `why` records of docs/architecture.md.
void list_why(const catalogue& catalogue, const run_options& options, bool as_json,
              std::ostream& out);

/// `assay list --write-lock`: the plugin files that this catalogue has opened or read. Throws
/// tool_error.
void write_lock(const catalogue& catalogue, const std::filesystem::path& file);

}  // namespace assay
