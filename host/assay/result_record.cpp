// SPDX-License-Identifier: Apache-2.0
#include "result_record.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "worker_pool.hpp"

namespace assay {

namespace {

using nlohmann::json;

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

std::string note_for(const json& result, const planned_check& check) {
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

}  // namespace

json fault_result(worker_process::event what, const std::string& phase, double timeout_s,
                  const std::optional<platform::ending>& ending) {
  const platform::ending end = ending.value_or(platform::ending{});
  const std::string status = what == worker_process::event::timeout ? "timeout" : "crash";
  std::string message;
  if (what == worker_process::event::timeout) {
    message = fmt::format("no result within {:g} s", timeout_s);
  } else if (what == worker_process::event::flood) {
    message = fmt::format("it printed more than {} MiB and was ended",
                          worker_process::output_limit_bytes >> 20);
  } else if (end.signal) {
    message = "the process died of " + end.signal_name;
  } else {
    message = "the process ended itself with " + in_words(end);
  }
  return {
      {"status", status},
      {"phase", phase},
      {"outputs", json::array()},
      {"timing", nullptr},
      {"warnings", json::array()},
      {"error", {{"type", status}, {"message", message}, {"trace", nullptr}}},
      {"poisoned", false},
      {"extra_threads", nullptr},
      {"signal", end.signal ? json{{"number", *end.signal}, {"name", end.signal_name}} : json()},
      {"exit_code", end.exit_code ? json(*end.exit_code) : json()}};
}

json skipped_result(const planned_check& check, const std::string& missing) {
  json result{{"record", "result"},
              {"id", check.id()},
              {"category", check.category},
              {"name", check.name},
              {"dtype", check.dtype},
              {"device", check.device},
              {"plugin", check.plugin},
              {"worker", nullptr},
              {"repeat_of", nullptr},
              {"status", "skipped"},
              {"phase", nullptr},
              {"outputs", json::array()},
              {"timing", nullptr},
              {"warnings", json::array()},
              {"error", {{"type", "requirement"}, {"message", missing}, {"trace", nullptr}}},
              {"poisoned", false},
              {"extra_threads", nullptr},
              {"signal", nullptr},
              {"exit_code", nullptr},
              {"stdout", ""},
              {"stderr", ""},
              {"stdout_bytes", 0},
              {"stderr_bytes", 0},
              {"elapsed_s", 0.0}};
  if (check.baseline) {
    result["baseline"] = true;
  }
  add_findings(result, check);
  return result;
}

// An operator that this backend lacks altogether ("Could not run 'aten::...'") lacks it in every
// dtype: that is an error.
void skip_unsupported_dtype(json& result, const planned_check& check) {
  if (check.own_dtype || result.at("status") != "error") {
    return;
  }
  const json& error = result.at("error");
  const std::string message = error.at("message");
  const bool not_implemented = error.at("type") == "c10::NotImplementedError" ||
                               message.find("not implemented for '") != std::string::npos;
  if (not_implemented && message.find("Could not run '") == std::string::npos) {
    result["status"] = "skipped";
  }
}

void add_findings(json& result, const planned_check& check) {
  result["on_device"] =
      result.at("outputs").empty() ? json() : json(on_device(result, check.device));
  result["note"] = note_for(result, check);
}

}  // namespace assay
