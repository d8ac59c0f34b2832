// SPDX-License-Identifier: Apache-2.0
//
// --set PLUGIN.NAME=VALUE.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "run_options.hpp"

namespace assay {

/// Adds "norm.eps=1e-6". Throws usage_error, which begins with `origin`.
void add_assignment(std::vector<run_options::assignment>& list, const std::string& origin,
                    const std::string& text);

/// As the worker's `setup` takes it: {"norm": {"eps": "1e-6"}}.
nlohmann::json settings_for_worker(const run_options& options);

/// Throws usage_error for a plugin or an option that there is not, and for a value that its plugin
/// turned down. What has no effect, since its plugin is off or refused, is answered, a line each.
std::vector<std::string> check_settings(const std::vector<nlohmann::json>& plugins,
                                        const run_options& options);

}  // namespace assay
