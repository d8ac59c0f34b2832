// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>

#include "host/diagnosis/knowledge.hpp"
#include "supervisor.hpp"

namespace assay {

/// The rule files of this installation and of the plugin folders that the options name. What is
/// wrong with one is said on `complaints`, a line each, and the others are used.
knowledge rule_knowledge(const installation& here, const run_options& options,
                         std::ostream& complaints);

/// The same files as assay list names them: the `rule_file` records of docs/architecture.md. Rules
/// whose probe none of `plugins` has go to `complaints`.
std::vector<nlohmann::json> list_rule_files(const installation& here, const run_options& options,
                                            const std::vector<nlohmann::json>& plugins,
                                            std::ostream& complaints);

/// The catalogue as docs/diagnoses.md shows it.
std::string catalogue_as_markdown(const knowledge& known);
nlohmann::json catalogue_as_json(const knowledge& known);

/// Rules that name a probe which none of these plugins has, a line each.
std::vector<std::string> rules_without_probe(const knowledge& known,
                                             const std::vector<nlohmann::json>& plugins);

/// The plugin's file: its path with what libraries end in on this system.
std::filesystem::path plugin_file(const std::filesystem::path& bare);

}  // namespace assay
