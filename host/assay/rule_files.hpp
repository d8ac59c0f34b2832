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

/// The same files as assay list names them: the `rule_file` records of docs/architecture.md.
std::vector<nlohmann::json> list_rule_files(const installation& here, const run_options& options);

/// The catalogue as docs/diagnoses.md shows it.
std::string catalogue_as_markdown(const knowledge& known);

/// The plugin's file: its path with what libraries end in on this system.
std::filesystem::path plugin_file(const std::filesystem::path& bare);

}  // namespace assay
