// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>

#include "options.hpp"
#include "report_paper.hpp"
#include "supervisor.hpp"

namespace assay {

/// `assay explain`: reads the log once, in pieces, and prints what it means. Answers the exit
/// status: ok when something was recognised, failed when not. Throws tool_error when the log cannot
/// be read.
int explain(const explain_request& request, const installation& here, std::istream& input,
            report_paper& paper);

}  // namespace assay
