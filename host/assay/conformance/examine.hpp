// SPDX-License-Identifier: Apache-2.0
//
// The parts of `assay check-plugin`, one file each. Every part adds to the findings of the files
// that it is given.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "finding.hpp"
#include "host/assay/supervisor.hpp"
#include "host/diagnosis/knowledge.hpp"

namespace assay::conformance {

/// An installation whose own plugins are not loaded: a file is looked at by itself.
installation without_plugins(const installation& here);

/// What the file says of itself, without running any of its code: exports, libraries, stack.
void examine_binary(examined_file& one);

/// Loads it twice, in a process of its own each, without LibTorch, and fills plugin, checks, id and
/// facts. Throws interrupted_error.
void examine_registration(examined_file& one, const installation& here, const run_options& options);

/// What it registered: summaries, names that an installed plugin has already.
void examine_names(examined_file& one, const catalogue& installed);

/// What its checks declare as paths. `operators`: of this LibTorch.
void examine_paths(examined_file& one, const std::vector<std::string>& operators);

/// What one form of a check declares as bytes and FLOPs, against what its calls read, write and
/// compute. `form`: the check's record or its `large`; `calls`: as the engine inspected them.
void examine_cost(examined_file& one, const std::string& subject, const nlohmann::json& form,
                  const std::string& dtype, const nlohmann::json& calls);

/// FLOPs of one call of a matrix product or convolution, from the shapes of its tensors; nothing
/// for every other operator.
std::optional<double> known_flops(const nlohmann::json& call);

/// How the checks of all files did on the CPU.
struct check_counts {
  std::size_t ran = 0, skipped = 0, failed = 0;
  bool interrupted = false;
  std::string not_run;  // why none could run, or ""
};
check_counts examine_checks(std::vector<examined_file>& files, const installation& here,
                            const run_options& given, const std::optional<engine_choice>& engine,
                            const std::string& no_engine_reason);

/// Findings from one ended check: its `result` and `evidence` lines and its `check` record.
void judge_run(examined_file& one, const nlohmann::json& check, const nlohmann::json& result,
               const nlohmann::json& evidence, const nlohmann::json& ceilings);

/// Probes and classifiers of one plugin. `known`: the catalogue of all rule files there are.
void examine_diagnostics(examined_file& one, const installation& here, const run_options& options,
                         const knowledge& known);

/// A rule file. `before` and `behind`: the other rule files, in the order in which assay reads
/// them; `plugins`: the records of all plugins that are installed or examined.
void examine_rules(examined_file& one, const std::vector<std::filesystem::path>& before,
                   const std::vector<std::filesystem::path>& behind,
                   const std::vector<nlohmann::json>& plugins, bool trust_everything);

/// The installed rule files that are no other version of one of `files`.
std::vector<std::filesystem::path> other_rule_files(const std::vector<examined_file>& files,
                                                    const installation& here,
                                                    const run_options& options);

}  // namespace assay::conformance
