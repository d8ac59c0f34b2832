// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "record_sink.hpp"
#include "run_options.hpp"
#include "selection.hpp"
#include "torch_locate.hpp"

namespace assay {

/// Where the parts of this installation lie.
struct installation {
  std::filesystem::path worker;           // the program assay-worker
  std::filesystem::path libexec_dir;      // has torch-*/
  std::filesystem::path plugin_dir;       // the built-in op packs
  std::filesystem::path selftest_dir;     // the planted faults of assay selftest
  std::filesystem::path user_plugin_dir;  // the user's own; empty: there is no such place
  std::filesystem::path templates_dir{};  // what assay new-plugin starts from
};

/// Found from the running program's own place.
installation this_installation();

/// What the plugins are and bring, as the `plugin` and `check` records of docs/architecture.md say.
struct catalogue {
  std::vector<nlohmann::json> plugins;
  std::vector<nlohmann::json> checks;
  std::vector<nlohmann::json> rule_files;  // of assay list only
  std::vector<nlohmann::json> traces;      // `trace` records: which checks stand for which calls
  std::vector<plugin_identity> known;      // of all plugin files, opened or not
};

/// Loads the plugins in a worker, without LibTorch. A plugin that crashes or hangs while it is
/// loaded becomes a refused one. Throws tool_error when no worker can be started.
catalogue read_catalogue(const installation& here, const run_options& options);

/// Runs the checks and gives every record to every sink, the `summary` last. `engine` and
/// `no_engine_reason`: exactly one is set. Answers the exit status. Throws usage_error for globs,
/// dtypes and devices that do not exist.
int run_checks(const installation& here, const run_options& options,
               const std::optional<engine_choice>& engine, const std::string& no_engine_reason,
               const std::vector<std::string>& command_line,
               const std::vector<record_sink*>& sinks);

/// One of two runs that take turns.
struct run_side {
  run_options options;  // with its own --torch
  engine_choice engine;
  std::vector<record_sink*> sinks;
};

/// Runs the same checks with two LibTorch installations: every check is timed with the one and at
/// once with the other. Answers the exit status of each.
std::array<int, 2> run_side_by_side(const installation& here, const std::array<run_side, 2>& sides,
                                    const std::vector<std::string>& command_line);

}  // namespace assay
