// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "collected_run.hpp"
#include "host/diagnosis/diagnose.hpp"
#include "record_sink.hpp"
#include "supervisor.hpp"

namespace assay {

/// Watches a run's records and, at its end, says what its failures and warnings mean: rules in this
/// process, classifiers and the probes that rules name in workers. A run without any costs nothing.
class run_diagnosis : public record_sink {
 public:
  run_diagnosis(const installation& here, const run_options& options)
      : here_(here), options_(options) {}

  /// The plugins and checks that the run has.
  void found(const catalogue& all) { found_ = all; }

  void on_record(const nlohmann::json& record) override { run_.add(record); }

  /// What it was told so far.
  [[nodiscard]] const catalogue& found() const { return found_; }
  [[nodiscard]] const collected_run& seen() const { return run_; }

  /// The `probe` and `diagnosis` records of docs/results-format.md, the gravest first. With
  /// `at_once` by rules alone, without a worker; else it throws interrupted_error.
  std::vector<nlohmann::json> conclude(bool at_once);

 private:
  struct suspect {
    std::string id, device;  // of a check; both empty: the engine
    failure_facts facts;
    std::vector<found_diagnosis> found;
  };

  [[nodiscard]] std::vector<suspect> suspects() const;
  [[nodiscard]] failure_facts facts_of(const collected_run::entry& entry) const;
  [[nodiscard]] failure_facts engine_facts() const;
  void describe_build(failure_facts& facts, const std::string& device) const;
  [[nodiscard]] std::string architecture() const;

  const installation& here_;
  const run_options& options_;
  catalogue found_;
  collected_run run_;
};

}  // namespace assay
