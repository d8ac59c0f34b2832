// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>

#include "run_options.hpp"
#include "supervisor.hpp"

namespace assay {

/// What there is: plugins, categories and their checks, probes, classifiers, engines. With filters
/// (enable, disable, dtypes) only what they leave. Answers 0, or exit_status::tool when a plugin
/// was refused.
int list_command(const catalogue& catalogue, const installation& here, const run_options& options,
                 std::ostream& out);

/// The same as JSON lines: the records of docs/architecture.md.
int list_as_json(const catalogue& catalogue, const run_options& options, std::ostream& out);

}  // namespace assay
