// SPDX-License-Identifier: Apache-2.0
//
// The part of a run that asks the libraries who served each check (--trace-libs).
#include <fmt/format.h>

#include "collected_run.hpp"
#include "library_trace.hpp"
#include "run_loop.hpp"

namespace assay {

using nlohmann::json;

namespace {

json not_traced(const std::string& why) {
  return {{"served", json::array()}, {"state", "unknown"}, {"why", why}};
}

}  // namespace

// Each in a process of its own: libraries read their variables and open their logs once.
void run_loop::trace_all() {
  if (to_trace_.empty()) {
    return;
  }
  if (worker_) {
    worker_->quit();
    worker_.reset();
  }
  for (const timed_check& timed : to_trace_) {
    json line{{"record", "library_trace"},
              {"id", timed.check.id()},
              {"device", timed.check.device},
              {"worker", nullptr}};
    line.update(trace_one(timed));
    write(line);
  }
}

json run_loop::trace_one(const timed_check& timed) {
  const planned_check& check = timed.check;
  const std::string status = text_of(timed.result, "status");
  if (status == "skipped" || status == "timeout") {
    return not_traced(status == "skipped" ? "the check was skipped"
                                          : "the check passed its deadline when it was timed");
  }
  const std::string stem = "libraries." + std::to_string(traced_++);
  const library_trace trace(text_of(engine_, "build"), check.device, pool_.scratch() / stem);
  worker_ = pool_.start(trace.environment());
  if (!worker_) {
    return not_traced("no worker could be started with the libraries' logs on: " +
                      text_of(pool_.engine_record(), "reason"));
  }
  write_starting(check, "library_trace");
  const worker_process::printed begin = worker_->output_so_far();
  json command = run_command(check, false);
  command["untimed"] = true;
  command["cold"] = false;
  const json result = run_in_worker(check, command);
  const std::string ended = text_of(result, "status");
  if (ended != "crash" && ended != "timeout") {
    worker_->quit();
  }
  const auto kernels = kernels_.find(check.device + " " + check.id());
  json read = trace.read(*worker_, begin, kernels == kernels_.end() ? json() : kernels->second);
  read["worker"] = worker_->ordinal();
  if (keep_worker(result, "tracing the libraries of " + check.id())) {
    worker_.reset();
  }
  if (ended != "ok") {
    const std::string how = fmt::format("with the logs on it ended as {}", ended);
    const std::string why = text_of(read, "why");
    read["why"] = why.empty() ? how : how + "; " + why;
  }
  return read;
}

}  // namespace assay
