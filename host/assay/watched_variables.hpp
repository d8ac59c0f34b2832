// SPDX-License-Identifier: Apache-2.0
//
// Which environment variables a result file has: those that the rule files of the diagnostic
// plugins name. Others are nobody's business, and may be secret.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "plugin_survey.hpp"

namespace assay {

/// The list `environment` in the head of a rule file's text; what is no list of names is left to
/// the reader that complains.
std::vector<std::string> variables_named_in(std::string_view text);

/// Those of all rule files that may be used, each once and sorted: names, or the beginning of names
/// and a '*'.
std::vector<std::string> watched_variables(const std::vector<surveyed_file>& files,
                                           bool trust_everything);

/// Of these variables those that are watched. What a name gives away as a secret is not shown.
std::map<std::string, std::string> watched_in(const std::map<std::string, std::string>& variables,
                                              const std::vector<std::string>& watched);

}  // namespace assay
