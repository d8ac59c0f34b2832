// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "options.hpp"
#include "report_paper.hpp"

namespace assay {

/// `assay history`: each check's medians over the kept runs. Throws usage_error.
int history_command(const history_request& request, report_paper& paper);

}  // namespace assay
