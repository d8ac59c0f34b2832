// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "plugin_loader.hpp"

namespace assay::worker {

/// Registers the calls of each log as checks of a plugin "trace.<the file's name>", and writes a
/// record `trace` after it (docs/architecture.md). Files of `excluded` are refused unread.
void load_traces(plugin_registry& plugins, const std::vector<std::filesystem::path>& files,
                 const std::map<std::string, left_out>& excluded, bool trust_everything,
                 const std::function<void(const nlohmann::json&)>& write);

}  // namespace assay::worker
