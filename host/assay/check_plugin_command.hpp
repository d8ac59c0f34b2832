// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "options.hpp"
#include "report_paper.hpp"
#include "supervisor.hpp"
#include "torch_locate.hpp"

namespace assay {

/// `assay check-plugin`: everything that can be found out about plugins and rule files without a
/// GPU, one line a finding, then one line for all. Answers the exit status. `engine` and
/// `no_engine_reason`: exactly one is set. Throws usage_error where a place holds no plugin.
int check_plugin(const check_plugin_request& request, const installation& here,
                 const std::optional<engine_choice>& engine, const std::string& no_engine_reason,
                 report_paper& paper);

}  // namespace assay
