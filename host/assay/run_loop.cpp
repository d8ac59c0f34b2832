// SPDX-License-Identifier: Apache-2.0
#include "run_loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "errors.hpp"
#include "host/engine/engine_api.h"

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

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string in_megabytes(std::uintmax_t bytes) {
  return bytes < 1000000 ? fmt::format("{} bytes", bytes)
                         : fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

bool on_device(const json& result, const std::string& device) {
  const json& outputs = result.at("outputs");
  return std::all_of(outputs.begin(), outputs.end(),
                     [&](const json& output) { return output.at("device") == device; });
}

}  // namespace

int tally::exit_status() const {
  if (interrupted) {
    return exit_status::interrupted;
  }
  if (failed > 0) {
    return exit_status::failed;
  }
  if (refused_plugins > 0 || engine_failed || not_run > 0) {
    return exit_status::tool;
  }
  return ran == 0 ? exit_status::nothing_ran : exit_status::ok;
}

std::string tally::text(double elapsed_s) const {
  std::string devices;
  for (const std::string& type : device_types) {
    devices += (devices.empty() ? "" : " and ") + type;
  }
  std::string line = fmt::format(
      "Summary: {}/{} returned {}tensors | {} errors | {} warnings | {} crashes | {} timeouts",
      on_device, checks, devices.empty() ? "" : devices + " ", errors, warnings, crashes, timeouts);
  if (skipped > 0) {
    line += fmt::format(" | {} skipped", skipped);
  }
  if (refused_plugins > 0) {
    line += fmt::format(" | {} plugins refused", refused_plugins);
  }
  if (not_run > 0) {
    line += fmt::format(" | {} not run", not_run);
  }
  if (interrupted) {
    line += " | interrupted";
  }
  return line + fmt::format(" | {:.1f} s", elapsed_s);
}

run_loop::run_loop(worker_pool& pool, const run_options& options,
                   const std::vector<record_sink*>& sinks)
    : pool_(pool), options_(options), sinks_(sinks) {}

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
  worker_ = std::move(worker);
  tally_.checks = static_cast<int>(checks.size());
  for (const planned_check& check : checks) {
    const std::string type = check.device.substr(0, check.device.find(':'));
    if (std::find(tally_.device_types.begin(), tally_.device_types.end(), type) ==
        tally_.device_types.end()) {
      tally_.device_types.push_back(type);
    }
  }
  try {
    for (std::size_t i = 0; i < checks.size(); ++i) {
      if (!worker_ && !renew_worker()) {
        give_up(checks, i);
        break;
      }
      repeat_neighbours();
      if (!worker_ && !renew_worker()) {
        give_up(checks, i);
        break;
      }
      if (run_one(checks[i], "")) {
        done_by_worker_.push_back(checks[i]);
      }
    }
    // The last check's neighbours are owed their proof too.
    if (!worker_ && !done_by_worker_.empty() && options_.repeat_neighbours > 0 && renew_worker()) {
      repeat_neighbours();
    }
  } catch (const interrupted_error&) {
    tally_.interrupted = true;
    tally_.not_run = tally_.checks - tally_.ran - tally_.skipped;
  }
  if (worker_) {
    tally_.interrupted ? worker_->end(0ms) : worker_->quit();
  }
  return finish();
}

bool run_loop::renew_worker() {
  worker_ = pool_.start();
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
    if (!worker_ || !run_one(neighbour, reason)) {
      return;
    }
  }
}

bool run_loop::run_one(const planned_check& check, const std::string& repeat_of) {
  const bool repeated = !repeat_of.empty();
  write({{"record", "starting"},
         {"id", check.id()},
         {"device", check.device},
         {"worker", worker_->ordinal()},
         {"repeat_of", repeated ? json(repeat_of) : json()}});
  const auto begin = std::chrono::steady_clock::now();
  const worker_process::printed before = worker_->output_so_far();
  worker_->send({{"do", "run"},
                 {"check", check.check},
                 {"dtype", check.dtype},
                 {"device", check.device},
                 {"seed", options_.seed},
                 {"profile", profile_code(options_.profile)},
                 {"measure_limit_s", options_.measure_limit_s}});
  json result = await_result();
  const worker_process::printed after = worker_->output_so_far();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  result.update(json{{"record", "result"},
                     {"id", check.id()},
                     {"category", check.category},
                     {"name", check.name},
                     {"dtype", check.dtype},
                     {"device", check.device},
                     {"plugin", check.plugin},
                     {"worker", worker_->ordinal()},
                     {"repeat_of", repeated ? json(repeat_of) : json()},
                     {"stdout", worker_->stdout_between(before, after)},
                     {"stderr", worker_->stderr_between(before, after)},
                     {"stdout_bytes", after.out_bytes - before.out_bytes},
                     {"stderr_bytes", after.err_bytes - before.err_bytes},
                     {"elapsed_s", elapsed.count()}});
  const std::string status = result.at("status");
  const bool has_outputs = !result.at("outputs").empty();
  result["on_device"] = has_outputs ? json(on_device(result, check.device)) : json();
  result["note"] = note_for(result, check);

  const bool poisoned = result.at("poisoned").get<bool>();
  const bool worker_lost = status == "crash" || status == "timeout";
  if (!repeated) {
    tally_.warnings += static_cast<int>(result.at("warnings").size());
    tally_.on_device += result["on_device"] == true ? 1 : 0;
    tally_.errors += status == "error" ? 1 : 0;
    tally_.crashes += status == "crash" ? 1 : 0;
    tally_.timeouts += status == "timeout" ? 1 : 0;
    tally_.skipped += status == "skipped" ? 1 : 0;
    tally_.ran += status != "skipped" ? 1 : 0;
    const bool fine = status == "ok" && result["on_device"] != false;
    tally_.failed += fine || status == "skipped" ? 0 : 1;
  }
  write(result);
  if (!worker_lost && !poisoned) {
    return true;
  }
  json ended{{"record", "worker"},
             {"worker", worker_->ordinal()},
             {"reason", ""},
             {"signal", result.at("signal")},
             {"exit_code", result.at("exit_code")}};
  if (poisoned) {
    worker_->end(0ms);
    ended["reason"] = check.id() + " left the device unusable in this process";
  } else if (status == "timeout") {
    ended["reason"] =
        check.id() + " passed its deadline; the worker ended " +
        (worker_->had_to_be_killed() ? "by KILL, after TERM did not help" : "by TERM");
  } else {
    ended["reason"] = check.id() + " ended it";
  }
  write(ended);
  worker_.reset();
  if (!repeated) {  // a repeated check has no neighbours of its own
    fault_ = {check.id(), poisoned              ? "left the device unusable"
                          : status == "timeout" ? "passed its deadline"
                                                : "crashed"};
  }
  return false;
}

json run_loop::await_result() {
  using event = worker_process::event;
  const auto deadline =
      worker_process::clock::now() + std::chrono::duration_cast<worker_process::clock::duration>(
                                         std::chrono::duration<double>(options_.timeout_s));
  std::string phase = "library";
  for (;;) {
    auto [what, record] = worker_->next(deadline);
    switch (what) {
      case event::record:
        if (record.value("record", "") == "phase") {
          phase = record.at("phase");
        } else if (record.value("record", "") == "result") {
          record["signal"] = nullptr;
          record["exit_code"] = nullptr;
          return record;
        }
        break;
      case event::interrupted:
        throw interrupted_error();
      case event::timeout:
        worker_->end(grace_before_kill);
        return fault_result("timeout", phase, what);
      case event::flood:
        worker_->end(0ms);
        return fault_result("crash", phase, what);
      case event::ended:
        return fault_result("crash", phase, what);
    }
  }
}

json run_loop::fault_result(const std::string& status, const std::string& phase,
                            worker_process::event what) {
  // How the worker ended tells nothing where assay ended it.
  const platform::ending ending =
      what == worker_process::event::ended ? worker_->ending() : platform::ending{};
  std::string message;
  if (what == worker_process::event::timeout) {
    message = fmt::format("no result within {:g} s", options_.timeout_s);
  } else if (what == worker_process::event::flood) {
    message = fmt::format("it printed more than {} MiB and was ended",
                          worker_process::output_limit_bytes >> 20);
  } else if (ending.signal) {
    message = "the process died of " + ending.signal_name;
  } else {
    message = "the process ended itself with " + in_words(ending);
  }
  return {{"status", status},
          {"phase", phase},
          {"outputs", json::array()},
          {"timing", nullptr},
          {"warnings", json::array()},
          {"error", {{"type", status}, {"message", message}, {"trace", nullptr}}},
          {"poisoned", false},
          {"extra_threads", nullptr},
          {"signal",
           ending.signal ? json{{"number", *ending.signal}, {"name", ending.signal_name}} : json()},
          {"exit_code", ending.exit_code ? json(*ending.exit_code) : json()}};
}

std::string run_loop::note_for(const json& result, const planned_check& check) const {
  std::string note;
  const auto add = [&](const std::string& text) { note += (note.empty() ? "" : "; ") + text; };
  const std::string status = result.at("status");
  if (status != "ok") {
    const std::string message = first_line(result.at("error").at("message"));
    add(status == "skipped" ? message
                            : message + " (" + result.at("phase").get<std::string>() + ")");
  } else if (result.at("on_device") == false) {
    for (const json& output : result.at("outputs")) {
      if (output.at("device") != check.device) {
        add("output on " + output.at("device").get<std::string>() + ", not on " + check.device);
        break;
      }
    }
  }
  if (result.at("poisoned").get<bool>()) {
    add("the device was unusable afterwards, so the worker was replaced");
  }
  if (const auto warnings = result.at("warnings").size(); warnings > 0) {
    add(fmt::format("{} warning{}", warnings, warnings == 1 ? "" : "s"));
  }
  for (const char* stream : {"stdout", "stderr"}) {
    const auto bytes = result.at(std::string(stream) + "_bytes").get<std::uintmax_t>();
    if (bytes > 0) {
      add(in_megabytes(bytes) + " on " + stream);
    }
  }
  // LibTorch's own libraries keep pools of threads; an extension that leaves one is worth a word.
  const json& extra = result.at("extra_threads");
  if (!check.only_aten && extra.is_number() && extra.get<int>() > 0) {
    add(fmt::format("left {} thread{} running", extra.get<int>(), extra == 1 ? "" : "s"));
  }
  return note;
}

// The worker cannot be started again: what is left is listed as not run, which is no finding about
// the checks.
void run_loop::give_up(const std::vector<planned_check>& checks, std::size_t from) {
  tally_.engine_failed = true;
  tally_.not_run = static_cast<int>(checks.size() - from);
}

int run_loop::finish_early(bool interrupted) {
  tally_.interrupted = interrupted;
  return finish();
}

int run_loop::finish() {
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin_;
  const int status = tally_.exit_status();
  write({{"record", "summary"},
         {"checks", tally_.checks},
         {"on_device", tally_.on_device},
         {"errors", tally_.errors},
         {"warnings", tally_.warnings},
         {"crashes", tally_.crashes},
         {"timeouts", tally_.timeouts},
         {"skipped", tally_.skipped},
         {"not_run", tally_.not_run},
         {"refused_plugins", tally_.refused_plugins},
         {"devices", tally_.device_types},
         {"elapsed_s", elapsed.count()},
         {"interrupted", tally_.interrupted},
         {"exit_status", status},
         {"text", tally_.text(elapsed.count())}});
  return status;
}

}  // namespace assay
