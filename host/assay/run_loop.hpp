// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ceilings_cache.hpp"
#include "known_issues.hpp"
#include "record_sink.hpp"
#include "run_options.hpp"
#include "schedule.hpp"
#include "tally.hpp"
#include "worker_pool.hpp"

namespace assay {

/// Runs a schedule on one worker after the other and writes the records. First every check is
/// timed; then those that ran to their end run again for their evidence, since a profiler leaves
/// its process slower than it was. With --trace-libs each then runs once more, alone in a worker
/// whose libraries log.
class run_loop {
 public:
  run_loop(worker_pool& pool, const run_options& options, ceilings_cache cache,
           const std::vector<record_sink*>& sinks);

  /// Asked for further records once all checks are done; an interrupted run has no time for more
  /// than what can be said at once.
  void before_summary(std::function<std::vector<nlohmann::json>(bool at_once)> more) {
    before_summary_ = std::move(more);
  }

  /// Which failures are expected.
  void expect(known_issues known) { known_ = std::move(known); }

  /// Gives one record to every sink, counting it.
  void write(const nlohmann::json& record);

  /// Runs everything; answers the exit status. As begin() and run_to_end().
  int run(std::unique_ptr<worker_process> worker, const std::vector<planned_check>& checks);

  /// What is left after begin(): time_next() until it is false, examine() and end().
  int run_to_end();

  /// The same in steps, so that two runs can take turns. What throws interrupted_error is followed
  /// by end(true) alone.
  void begin(std::unique_ptr<worker_process> worker, const std::vector<planned_check>& checks);
  /// Times one check; false when there is none left.
  bool time_next();
  void examine();
  int end(bool interrupted);

  /// The summary of a run in which no check could start.
  int finish_early(bool interrupted);

 private:
  struct fault {
    std::string id;    // of the check that caused it
    std::string what;  // "crashed", "timed out", "left the device unusable"
  };
  struct timed_check {
    planned_check check;
    nlohmann::json result;
  };
  struct answer {
    worker_process::event what = worker_process::event::record;
    nlohmann::json record;
    std::string phase;  // of the check, where no record came
  };

  /// The record `clocks`. NVIDIA's GPUs are asked in the worker, where there is one.
  void write_clocks(const char* when, const std::vector<planned_check>& checks);
  nlohmann::json ask_management();
  /// Asks the worker; null, with `failure` in one line, where it did not answer and is of no more
  /// use. `doing`: what to say of it.
  nlohmann::json ask_worker(const nlohmann::json& command, const char* kind,
                            const std::string& doing, std::string& failure);
  /// Runs one check; false when the worker is of no more use.
  bool time_one(const planned_check& check, const std::string& repeat_of);
  [[nodiscard]] nlohmann::json run_command(const planned_check& check, bool for_evidence) const;
  nlohmann::json run_in_worker(const planned_check& check, const nlohmann::json& command);
  void write_skipped(const planned_check& check, const std::string& missing);
  std::string missing_now(const planned_check& check);
  nlohmann::json ask_device(const planned_check& check, bool arithmetic);
  void take_part(const nlohmann::json& result, const planned_check& check);
  answer await(const char* kind);
  bool keep_worker(const nlohmann::json& result, const std::string& what);
  bool ensure_worker() { return worker_ || renew_worker(); }
  bool renew_worker();
  void repeat_neighbours();
  void give_up(std::size_t from);
  int finish();

  void find_ceilings(const std::string& device);
  nlohmann::json measure_ceilings(const std::string& device);
  bool correct_ceilings(const planned_check& check, const nlohmann::json& verdict);
  void examine_all();
  /// The line before a check is run again, for another purpose than its times.
  void write_starting(const planned_check& check, const char* purpose);
  nlohmann::json examine_one(const planned_check& check);
  void write_verdict(const timed_check& timed, nlohmann::json gathered);
  void trace_all();
  nlohmann::json trace_one(const timed_check& timed);
  [[nodiscard]] nlohmann::json described(const std::string& device) const;
  [[nodiscard]] nlohmann::json check_record(const planned_check& check) const;

  worker_pool& pool_;
  const run_options& options_;
  ceilings_cache cache_;
  std::vector<record_sink*> sinks_;
  std::unique_ptr<worker_process> worker_;
  std::vector<planned_check> checks_;
  bool clocks_written_ = false;
  std::size_t next_ = 0;                       // of checks_
  std::vector<planned_check> done_by_worker_;  // ran to their end on the present worker
  std::function<std::vector<nlohmann::json>(bool at_once)> before_summary_;
  known_issues known_;
  bool used_ = false;  // the present worker has run a check
  std::map<std::pair<std::string, std::string>, nlohmann::json> adds_;  // by device and dtype
  fault fault_;
  tally tally_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();

  catalogue found_;                                 // as of the first worker
  nlohmann::json engine_;                           // likewise
  std::map<std::string, nlohmann::json> ceilings_;  // by device
  std::set<std::string> measured_again_;            // devices whose ceilings proved wrong
  std::map<std::string, timed_check> on_cpu_;       // by id: what a speed-up is over
  std::vector<timed_check> to_examine_;
  std::vector<timed_check> to_trace_;
  int traced_ = 0;
  std::map<std::string, nlohmann::json> kernels_;  // by device and id: what the profiler saw
};

}  // namespace assay
