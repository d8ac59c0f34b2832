// SPDX-License-Identifier: Apache-2.0
//
// The part of a run that asks a device whether it has what a check requires, just before the check
// would run.
#include <fmt/format.h>

#include "collected_run.hpp"
#include "host/common/dtype_names.hpp"
#include "requirements.hpp"
#include "result_record.hpp"
#include "run_loop.hpp"

namespace assay {

using nlohmann::json;

/// A check that is not run, since something that it requires is missing.
void run_loop::write_skipped(const planned_check& check, const std::string& missing) {
  json result = skipped_result(check, missing);
  if (!check.baseline) {
    known_.judge_result(result);
    tally_.add_result(result);
  }
  write(result);
  take_part(result, check);
}

// "" when the check may run. Memory changes as a run goes on, so that it is asked for each time;
// what a worker holds on to for later checks is free in a fresh one.
std::string run_loop::missing_now(const planned_check& check) {
  if (check.ask.dtype_arithmetic) {
    const auto known = adds_.find({check.device, check.dtype});
    const json state = known != adds_.end() ? known->second : ask_device(check, true);
    if (!state.is_null()) {
      adds_.insert_or_assign({check.device, check.dtype}, state);
    }
    if (std::string missing = arithmetic_unmet(check.dtype, check.device, state);
        !missing.empty()) {
      return missing;
    }
  }
  if (check.ask.free_memory_bytes == 0) {
    return "";
  }
  std::string missing =
      memory_unmet(check.ask.free_memory_bytes, check.device, ask_device(check, false));
  if (!missing.empty() && used_ && worker_) {
    worker_->quit();
    worker_.reset();
    done_by_worker_.clear();
    if (renew_worker()) {
      missing = memory_unmet(check.ask.free_memory_bytes, check.device, ask_device(check, false));
    }
  }
  return missing;
}

json run_loop::ask_device(const planned_check& check, bool arithmetic) {
  if (!ensure_worker()) {
    return {{"why", "no worker could be started again"}};
  }
  std::string failure;
  json record =
      ask_worker({{"do", "device_state"},
                  {"device", check.device},
                  {"dtype", arithmetic ? json(check.dtype) : json()}},
                 "device_state", fmt::format("asking {} what it has", check.device), failure);
  if (failure.empty()) {
    return record;
  }
  done_by_worker_.clear();
  tally_.engine_failed = true;  // a device that cannot be asked is a finding of its own
  return {{"why", "asked, " + failure}};
}

json run_loop::ask_worker(const json& command, const char* kind, const std::string& doing,
                          std::string& failure) {
  worker_->send(command);
  auto [what, record, phase] = await(kind);
  if (what == worker_process::event::record) {
    return record;
  }
  const auto ending = what == worker_process::event::ended
                          ? std::optional<platform::ending>(worker_->ending())
                          : std::nullopt;
  const json failed = fault_result(what, phase, options_.timeout_s, ending);
  keep_worker(failed, doing);
  failure = text_of(failed.at("error"), "message");
  return nullptr;
}

}  // namespace assay
