// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "record_sink.hpp"
#include "run_options.hpp"
#include "schedule.hpp"
#include "worker_pool.hpp"

namespace assay {

/// What the records so far add up to.
struct tally {
  int checks = 0, on_device = 0, errors = 0, warnings = 0, crashes = 0, timeouts = 0;
  int skipped = 0, refused_plugins = 0, ran = 0, failed = 0, not_run = 0;
  bool engine_failed = false, interrupted = false;
  std::vector<std::string> device_types;

  [[nodiscard]] int exit_status() const;
  [[nodiscard]] std::string text(double elapsed_s) const;
};

/// Runs a schedule on one worker after the other and writes the records.
class run_loop {
 public:
  run_loop(worker_pool& pool, const run_options& options, const std::vector<record_sink*>& sinks);

  /// Gives one record to every sink, counting it.
  void write(const nlohmann::json& record);

  /// Runs everything; answers the exit status.
  int run(std::unique_ptr<worker_process> worker, const std::vector<planned_check>& checks);

  /// The summary of a run in which no check could start.
  int finish_early(bool interrupted);

 private:
  struct fault {
    std::string id;    // of the check that caused it
    std::string what;  // "crashed", "timed out", "left the device unusable"
  };

  /// Runs one check; false when the worker is of no more use.
  bool run_one(const planned_check& check, const std::string& repeat_of);
  nlohmann::json await_result();
  nlohmann::json fault_result(const std::string& status, const std::string& phase,
                              worker_process::event what);
  [[nodiscard]] std::string note_for(const nlohmann::json& result,
                                     const planned_check& check) const;
  bool renew_worker();
  void repeat_neighbours();
  void give_up(const std::vector<planned_check>& checks, std::size_t from);
  int finish();

  worker_pool& pool_;
  const run_options& options_;
  std::vector<record_sink*> sinks_;
  std::unique_ptr<worker_process> worker_;
  std::vector<planned_check> done_by_worker_;  // ran to their end on the present worker
  fault fault_;
  tally tally_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace assay
