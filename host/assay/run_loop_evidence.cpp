// SPDX-License-Identifier: Apache-2.0
//
// The part of a run that gathers and judges evidence: the ceilings of each device, and the second
// run of each check.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "collected_run.hpp"
#include "host/common/utc_time.hpp"
#include "result_record.hpp"
#include "run_loop.hpp"
#include "verdict.hpp"

namespace assay {

using nlohmann::json;

namespace {

// Measured twice, and a check's product was faster all the same, by little: then it is the fastest
// that was seen here. By much it stays an alarm, since the check may count its work wrongly.
bool lift_to(json& ceilings, const json& verdict) {
  constexpr std::string_view matrix_rate = "matrix rate ";
  constexpr double little = 1.5;
  const std::string name = text_of(verdict, "ceiling");
  const auto reached = number_if_any(verdict, "tflop_per_s");
  if (!reached || !name.starts_with(matrix_rate)) {
    return false;
  }
  json& rate = ceilings["matrix_tflop_per_s"][name.substr(matrix_rate.size())];
  if (!rate.is_number() || *reached <= rate || *reached > little * rate.get<double>()) {
    return false;
  }
  rate = *reached;
  return true;
}

}  // namespace

json run_loop::described(const std::string& device) const {
  for (const json& known : list_of(engine_, "devices")) {
    if (text_of(known, "device") == device) {
      return known;
    }
  }
  return nullptr;
}

json run_loop::check_record(const planned_check& check) const {
  for (const json& known : found_.checks) {
    if (text_of(known, "check") == check.check) {
      return known;
    }
  }
  return nullptr;
}

void run_loop::find_ceilings(const std::string& device) {
  const json key = ceilings_cache::key(described(device), engine_);
  json record = options_.refresh_ceilings ? json() : cache_.find(key);
  if (record.is_null()) {
    record = measure_ceilings(device);
    if (text_of(record, "state") == "measured") {
      if (const std::string why = cache_.keep(key, record); !why.empty()) {
        record["why"] = "they will be measured again next time: " + why;
      }
    }
  }
  record["device"] = device;
  write(record);
  ceilings_[device] = std::move(record);
}

// A device that fails here may still run checks: the run goes on without ceilings.
json run_loop::measure_ceilings(const std::string& device) {
  const auto begin = std::chrono::steady_clock::now();
  worker_->send({{"do", "ceilings"}, {"device", device}});
  used_ = true;
  auto [what, record, phase] = await("ceilings");
  if (what != worker_process::event::record) {
    const auto ending = what == worker_process::event::ended
                            ? std::optional<platform::ending>(worker_->ending())
                            : std::nullopt;
    const json failed = fault_result(what, phase, options_.timeout_s, ending);
    keep_worker(failed, "measuring the ceilings of " + device);
    done_by_worker_.clear();
    const std::string message = text_of(failed.at("error"), "message");
    record = {{"state", "unknown"}, {"why", "while they were measured, " + message}};
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  record["record"] = "ceilings";
  record["device"] = device;
  record["measured_at"] = utc_now();
  record["elapsed_s"] = elapsed.count();
  if (text_of(record, "state") != "unknown") {
    record["state"] = "measured";
  }
  for (const char* member : {"why", "copy_gb_per_s", "read_gb_per_s", "host_to_device_gb_per_s",
                             "device_to_host_gb_per_s", "launch_us", "launch_kernel_us"}) {
    record.emplace(member, nullptr);
  }
  for (const char* member : {"matrix_tflop_per_s", "matrix_why"}) {
    record.emplace(member, json::object());
  }
  return record;
}

// A check above a ceiling proves it wrong: the device, or the machine around it, was not free when
// it was measured. It is measured again once a run; what is judged before stays.
bool run_loop::correct_ceilings(const planned_check& check, const json& verdict) {
  json record = ceilings_[check.device];
  const bool measure = measured_again_.insert(check.device).second;
  if (measure) {
    if (!ensure_worker()) {
      return false;
    }
    const json again = measure_ceilings(check.device);
    if (text_of(again, "state") != "measured") {
      return false;
    }
    record = best_of(again, record);
  }
  const bool lifted = lift_to(record, verdict);
  if (!measure && !lifted) {
    return false;
  }
  const std::string why =
      cache_.keep(ceilings_cache::key(described(check.device), engine_), record);
  record["why"] =
      fmt::format("{}, since {} came to {:.0f} % of the {}{}",
                  measure ? "measured again" : "raised", check.id(), number_of(verdict, "percent"),
                  text_of(verdict, "ceiling"), why.empty() ? "" : "; not kept: " + why);
  write(record);
  ceilings_[check.device] = std::move(record);
  return true;
}

void run_loop::examine_all() {
  for (const timed_check& timed : to_examine_) {
    if (!ensure_worker()) {
      tally_.engine_failed = true;
      write_verdict(timed, {{"why", "no worker could be started again"}});
      continue;
    }
    write_verdict(timed, examine_one(timed.check));
  }
}

void run_loop::write_starting(const planned_check& check, const char* purpose) {
  write({{"record", "starting"},
         {"id", check.id()},
         {"device", check.device},
         {"worker", worker_->ordinal()},
         {"repeat_of", nullptr},
         {"purpose", purpose}});
}

json run_loop::examine_one(const planned_check& check) {
  write_starting(check, "evidence");
  json result = run_in_worker(check, run_command(check, true));
  json gathered{{"worker", result.at("worker")},
                {"status", result.at("status")},
                {"phase", result.at("phase")},
                {"error", result.at("error")},
                {"evidence", nullptr},
                {"stderr", result.at("stderr")},
                {"elapsed_s", result.at("elapsed_s")}};
  if (result.contains("evidence")) {
    gathered["evidence"] = std::move(result["evidence"]);
    kernels_[check.device + " " + check.id()] =
        list_of(member_of(gathered["evidence"], "profiler"), "kernels");
  }
  keep_worker(result, "gathering the evidence of " + check.id());
  return gathered;
}

void run_loop::write_verdict(const timed_check& timed, json gathered) {
  const planned_check& check = timed.check;
  const json device = described(check.device);
  const json record = check_record(check);
  const auto known = ceilings_.find(check.device);
  const json ceilings = known == ceilings_.end() ? json() : known->second;
  const auto on_cpu = on_cpu_.find(check.id());
  const bool comparable = !options_.baseline.empty() && check.device != "cpu" &&
                          on_cpu != on_cpu_.end() && on_cpu->second.check.large == check.large;
  const json baseline = comparable ? on_cpu->second.result : json();
  json line{{"record", "evidence"}, {"id", check.id()},    {"device", check.device},
            {"worker", nullptr},    {"status", nullptr},   {"phase", nullptr},
            {"error", nullptr},     {"evidence", nullptr}, {"stderr", ""},
            {"elapsed_s", nullptr}};
  const auto judged_by = [&](const json& against) {
    return judge({record, timed.result, gathered, against, baseline, text_of(device, "name"),
                  text_of(device, "architecture")});
  };
  line["verdict"] = judged_by(ceilings);
  if (above_ceiling(line["verdict"]) && correct_ceilings(check, line["verdict"])) {
    line["verdict"] = judged_by(ceilings_[check.device]);
  }
  if (gathered.is_object()) {
    gathered.erase("why");
    line.update(gathered);
  }
  known_.judge_evidence(line, timed.result);
  tally_.add_verdict(line, timed.result);
  write(line);
}

}  // namespace assay
