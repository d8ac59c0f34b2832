// SPDX-License-Identifier: Apache-2.0
#include "run_loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "errors.hpp"
#include "host/engine/engine_api.h"
#include "result_record.hpp"

namespace assay {

namespace {

using nlohmann::json;
using namespace std::chrono_literals;

constexpr auto grace_before_kill = 1000ms;

int profile_code(const std::string& name) {
  static const std::map<std::string, int> codes{{"classic", ASSAY_PROFILE_CLASSIC},
                                                {"quick", ASSAY_PROFILE_QUICK},
                                                {"measure", ASSAY_PROFILE_MEASURE}};
  return codes.at(name);
}

// Every member of a name is [a-z0-9_], so that no two checks share a file; ':' is no letter of a
// file's name on Windows.
std::string trace_file_name(const planned_check& check) {
  std::string device = check.device;
  std::replace(device.begin(), device.end(), ':', '-');
  return fmt::format("{}.{}.{}.{}.json", check.category, check.name, check.dtype, device);
}

}  // namespace

run_loop::run_loop(worker_pool& pool, const run_options& options, ceilings_cache cache,
                   const std::vector<record_sink*>& sinks)
    : pool_(pool), options_(options), cache_(std::move(cache)), sinks_(sinks) {}

void run_loop::write(const json& record) {
  const std::string kind = record.at("record");
  if (kind == "plugin" && record.at("status") == "refused") {
    ++tally_.refused_plugins;
  } else if (kind == "engine") {
    tally_.engine_failed = record.at("status") != "ready";
  }
  for (record_sink* sink : sinks_) {
    sink->on_record(record);
  }
}

int run_loop::run(std::unique_ptr<worker_process> worker,
                  const std::vector<planned_check>& checks) {
  begin(std::move(worker), checks);
  return run_to_end();
}

int run_loop::run_to_end() {
  try {
    while (time_next()) {
    }
    examine();
  } catch (const interrupted_error&) {
    return end(true);
  }
  return end(false);
}

void run_loop::begin(std::unique_ptr<worker_process> worker,
                     const std::vector<planned_check>& checks) {
  worker_ = std::move(worker);
  checks_ = checks;
  next_ = 0;
  found_ = pool_.found();
  engine_ = pool_.engine_record();
  for (const planned_check& check : checks) {
    if (!check.baseline) {
      ++tally_.checks;
      tally_.add_device(check.device);
    }
  }
}

void run_loop::examine() {
  examine_all();
  trace_all();
  write_clocks("after", checks_);
}

int run_loop::end(bool interrupted) {
  if (interrupted) {
    tally_.interrupted = true;
    tally_.not_run = tally_.checks - tally_.ran - tally_.skipped;
    tally_.not_judged = options_.evidence ? tally_.ran + tally_.skipped - tally_.judged() : 0;
  }
  if (worker_) {
    interrupted ? worker_->end(0ms) : worker_->quit();
  }
  return finish();
}

bool run_loop::time_next() {
  if (!clocks_written_) {
    clocks_written_ = true;
    write_clocks("before", checks_);
  }
  if (next_ == checks_.size()) {
    // The last check's neighbours are owed their proof too.
    if (!worker_ && !done_by_worker_.empty() && options_.repeat_neighbours > 0 && renew_worker()) {
      repeat_neighbours();
    }
    return false;
  }
  const planned_check& check = checks_[next_++];
  if (!check.unmet.empty()) {
    write_skipped(check, check.unmet);
    return true;
  }
  bool ready = ensure_worker();
  if (ready) {
    repeat_neighbours();
    ready = ensure_worker();
  }
  if (ready && options_.evidence && !check.baseline && !ceilings_.contains(check.device)) {
    find_ceilings(check.device);
    ready = ensure_worker();
  }
  const std::string missing = ready ? missing_now(check) : "";
  ready = ready && ensure_worker();
  if (ready && !missing.empty()) {
    write_skipped(check, missing);
    return true;
  }
  if (!ready) {
    give_up(next_ - 1);
    next_ = checks_.size();
    done_by_worker_.clear();
    return false;
  }
  if (time_one(check, "")) {
    done_by_worker_.push_back(check);
  }
  return true;
}

bool run_loop::renew_worker() {
  worker_ = pool_.start();
  used_ = false;
  if (worker_ && pool_.engine_record().at("status") == "ready") {
    return true;
  }
  worker_.reset();
  write(pool_.engine_record());
  return false;
}

// A fault may have been brewing since the check before it: that one is run again where nothing
// came before it.
void run_loop::repeat_neighbours() {
  if (fault_.id.empty()) {
    return;
  }
  const std::size_t count =
      std::min<std::size_t>(options_.repeat_neighbours, done_by_worker_.size());
  const std::vector<planned_check> neighbours(
      done_by_worker_.end() - static_cast<std::ptrdiff_t>(count), done_by_worker_.end());
  const std::string reason = fault_.id + " " + fault_.what;
  fault_ = {};
  done_by_worker_.clear();
  for (const planned_check& neighbour : neighbours) {
    if (!worker_ || !time_one(neighbour, reason)) {
      return;
    }
  }
}

json run_loop::run_command(const planned_check& check, bool for_evidence) const {
  json trace_file = nullptr;
  if (for_evidence && options_.chrome_trace_dir) {
    trace_file = (*options_.chrome_trace_dir / trace_file_name(check)).string();
  }
  return {{"do", "run"},
          {"check", check.check},
          {"dtype", check.dtype},
          {"device", check.device},
          {"seed", options_.seed},
          {"profile", profile_code(options_.profile)},
          {"measure_limit_s", options_.measure_limit_s},
          {"untimed", for_evidence},
          {"evidence", for_evidence},
          {"large", check.large},
          {"cold",
           !for_evidence && options_.evidence && !check.baseline && options_.profile == "measure"},
          {"trace_file", std::move(trace_file)}};
}

/// What the worker answers, and what assay itself saw meanwhile.
json run_loop::run_in_worker(const planned_check& check, const json& command) {
  const auto begin = std::chrono::steady_clock::now();
  const worker_process::printed before = worker_->output_so_far();
  worker_->send(command);
  used_ = true;
  auto [what, result, phase] = await("result");
  if (what == worker_process::event::record) {
    result["signal"] = nullptr;
    result["exit_code"] = nullptr;
  } else {
    // How the worker ended tells nothing where assay ended it.
    const auto ending = what == worker_process::event::ended
                            ? std::optional<platform::ending>(worker_->ending())
                            : std::nullopt;
    result = fault_result(what, phase, options_.timeout_s, ending);
  }
  const worker_process::printed after = worker_->output_so_far();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  result.update(json{{"id", check.id()},
                     {"device", check.device},
                     {"worker", worker_->ordinal()},
                     {"stdout", worker_->stdout_between(before, after)},
                     {"stderr", worker_->stderr_between(before, after)},
                     {"stdout_bytes", after.out_bytes - before.out_bytes},
                     {"stderr_bytes", after.err_bytes - before.err_bytes},
                     {"elapsed_s", elapsed.count()}});
  return result;
}

bool run_loop::time_one(const planned_check& check, const std::string& repeat_of) {
  const bool repeated = !repeat_of.empty();
  const json repeat = repeated ? json(repeat_of) : json();
  write({{"record", "starting"},
         {"id", check.id()},
         {"device", check.device},
         {"worker", worker_->ordinal()},
         {"repeat_of", repeat}});
  json result = run_in_worker(check, run_command(check, false));
  result.erase("evidence");  // it has a line of its own
  result.update(json{{"record", "result"},
                     {"category", check.category},
                     {"name", check.name},
                     {"dtype", check.dtype},
                     {"plugin", check.plugin},
                     {"repeat_of", repeat}});
  if (check.baseline) {
    result["baseline"] = true;
  }
  skip_unsupported_dtype(result, check);
  add_findings(result, check);
  if (!repeated && !check.baseline) {
    known_.judge_result(result);
    tally_.add_result(result);
  }
  write(result);
  if (!repeated) {
    take_part(result, check);
  }
  if (keep_worker(result, check.id())) {
    return true;
  }
  if (!repeated) {  // a repeated check has no neighbours of its own
    const std::string status = result.at("status");
    fault_ = {check.id(), result.at("poisoned").get<bool>() ? "left the device unusable"
                          : status == "timeout"             ? "passed its deadline"
                                                            : "crashed"};
  }
  return false;
}

// What becomes of a result in the chain of evidence.
void run_loop::take_part(const json& result, const planned_check& check) {
  if (check.device == "cpu") {
    on_cpu_.insert_or_assign(check.id(), timed_check{check, result});
  }
  if (options_.trace_libs && !check.baseline) {
    to_trace_.push_back({check, result});
  }
  if (!options_.evidence || check.baseline) {
    return;
  }
  if (result.at("status") == "ok") {
    to_examine_.push_back({check, result});
  } else {
    write_verdict({check, result}, nullptr);
  }
}

run_loop::answer run_loop::await(const char* kind) {
  using event = worker_process::event;
  const auto deadline = worker_process::seconds_from_now(options_.timeout_s);
  std::string phase = "library";
  for (;;) {
    auto [what, record] = worker_->next(deadline);
    if (what == event::record) {
      const std::string got = record.value("record", "");
      if (got == kind) {
        return {what, std::move(record), phase};
      }
      if (got == "phase") {
        phase = record.at("phase");
      }
      continue;
    }
    if (what == event::interrupted) {
      throw interrupted_error();
    }
    if (what != event::ended) {
      worker_->end(what == event::timeout ? grace_before_kill : 0ms);
    }
    return {what, nullptr, phase};
  }
}

/// Writes why the worker is of no more use, and lets go of it. `what`: what ran in it.
bool run_loop::keep_worker(const json& result, const std::string& what) {
  const std::string status = result.at("status");
  const bool poisoned = result.at("poisoned").get<bool>();
  if (status != "crash" && status != "timeout" && !poisoned) {
    return true;
  }
  json ended{{"record", "worker"},
             {"worker", worker_->ordinal()},
             {"reason", ""},
             {"signal", result.at("signal")},
             {"exit_code", result.at("exit_code")}};
  if (poisoned) {
    worker_->end(0ms);
    ended["reason"] = what + " left the device unusable in this process";
  } else if (status == "timeout") {
    ended["reason"] =
        what + " passed its deadline; the worker ended " +
        (worker_->had_to_be_killed() ? "by KILL, after TERM did not help" : "by TERM");
  } else {
    ended["reason"] = what + " ended it";
  }
  write(ended);
  worker_.reset();
  return false;
}

// The worker cannot be started again: what is left is listed as not run, which is no finding about
// the checks.
void run_loop::give_up(std::size_t from) {
  tally_.engine_failed = true;
  tally_.not_run = static_cast<int>(
      std::count_if(checks_.begin() + static_cast<std::ptrdiff_t>(from), checks_.end(),
                    [](const planned_check& check) { return !check.baseline; }));
}

int run_loop::finish_early(bool interrupted) {
  tally_.interrupted = interrupted;
  return finish();
}

int run_loop::finish() {
  std::vector<json> more;
  if (before_summary_ && !tally_.interrupted) {
    try {
      more = before_summary_(false);
    } catch (const interrupted_error&) {
      tally_.interrupted = true;
    }
  }
  if (before_summary_ && tally_.interrupted) {
    more = before_summary_(true);
  }
  for (const json& record : more) {
    write(record);
  }
  for (const json& record : known_.records()) {
    write(record);
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin_;
  write(tally_.summary(elapsed.count()));
  return tally_.exit_status();
}

}  // namespace assay
