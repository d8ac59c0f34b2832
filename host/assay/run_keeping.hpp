// SPDX-License-Identifier: Apache-2.0
//
// assay run --save and --against: a run that is kept, or compared with a kept one.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/results/compare.hpp"
#include "host/store/run_store.hpp"
#include "record_sink.hpp"
#include "redaction.hpp"
#include "report_paper.hpp"
#include "result_text.hpp"
#include "run_options.hpp"
#include "supervisor.hpp"

namespace assay {

class run_keeping {
 public:
  /// Opens the store and finds the run to compare with, before anything runs. Throws usage_error.
  explicit run_keeping(const run_options& options);

  /// Wants every record of the run.
  record_sink& sink() { return record_; }

  /// Measures these checks ("category/name[dtype]") alone; nothing where that was interrupted.
  using measure_again =
      std::function<std::optional<saved_run>(const std::vector<std::string>& ids)>;

  /// Compares, then keeps. `status`: the run's own; answers the one that assay ends with: that of a
  /// run that did not come to its end, else a regression's, else the run's own. Throws tool_error
  /// where the run cannot be kept.
  int conclude(int status, const measure_again& again, report_paper& paper);

 private:
  void keep(const saved_run& now, report_paper& paper);
  void confirm(comparison& found, const saved_run& now, const measure_again& again,
               report_paper& paper);

  const run_options& options_;
  regression_rules rules_;
  std::optional<run_store> store_;
  std::vector<saved_run> before_;  // none, or the one to compare with
  std::string before_name_;
  result_text record_;
};

/// Runs these checks as the run before did, with its evidence: that decides on which sizes they are
/// timed. Nothing where that was interrupted or could not be done.
std::optional<saved_run> run_of_these(const installation& here, const run_options& options,
                                      const std::vector<std::string>& ids,
                                      const std::optional<engine_choice>& engine,
                                      const std::string& no_engine_reason,
                                      const std::vector<std::string>& command_line);

}  // namespace assay
