// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace assay {

/// What the records so far add up to.
struct tally {
  int checks = 0, on_device = 0, errors = 0, warnings = 0, crashes = 0, timeouts = 0;
  int skipped = 0, refused_plugins = 0, ran = 0, failed = 0, not_run = 0, not_judged = 0;
  int known = 0;            // failed as --known-issues says, and count as no failure
  int watching_failed = 0;  // the second run of a check that ran, by what watched it
  bool engine_failed = false, interrupted = false;
  std::vector<std::string> device_types;
  std::map<std::string, int> verdicts;  // of the chain of evidence: word -> how many

  void add_device(const std::string& device);
  void add_result(const nlohmann::json& result);
  /// `evidence` is an evidence line, `result` the line of the same check.
  void add_verdict(const nlohmann::json& evidence, const nlohmann::json& result);

  /// How many verdicts there are.
  [[nodiscard]] int judged() const;
  [[nodiscard]] int exit_status() const;
  [[nodiscard]] std::string text(double elapsed_s) const;
  /// The `summary` record.
  [[nodiscard]] nlohmann::json summary(double elapsed_s) const;
};

}  // namespace assay
