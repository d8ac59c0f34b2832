// SPDX-License-Identifier: Apache-2.0
#include "tally.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "collected_run.hpp"
#include "errors.hpp"

namespace assay {

namespace {

using nlohmann::json;

bool ended_well(const json& result) {
  return result.at("status") == "ok" && result.at("on_device") != false;
}

bool is_known(const json& line) { return flag_is(line, "known", true); }

}  // namespace

void tally::add_device(const std::string& device) {
  const std::string type = device.substr(0, device.find(':'));
  if (std::find(device_types.begin(), device_types.end(), type) == device_types.end()) {
    device_types.push_back(type);
  }
}

void tally::add_result(const json& result) {
  const std::string status = result.at("status");
  const bool excused = is_known(result);
  known += excused ? 1 : 0;
  warnings += static_cast<int>(result.at("warnings").size());
  on_device += result.at("on_device") == true ? 1 : 0;
  errors += status == "error" && !excused ? 1 : 0;
  crashes += status == "crash" && !excused ? 1 : 0;
  timeouts += status == "timeout" && !excused ? 1 : 0;
  skipped += status == "skipped" ? 1 : 0;
  ran += status != "skipped" ? 1 : 0;
  failed += ended_well(result) || status == "skipped" || excused ? 0 : 1;
}

void tally::add_verdict(const json& evidence, const json& result) {
  const std::string verdict = evidence.at("verdict").at("verdict");
  // What the result showed may be known, and what the evidence shows beside it not.
  const bool excused = is_known(evidence);
  const bool counted_as_failed = !ended_well(result) && !is_known(result);
  known += (excused ? 1 : 0) - (is_known(result) ? 1 : 0);
  ++verdicts[excused ? "known" : verdict];
  failed += verdict == "fail" && !excused && !counted_as_failed ? 1 : 0;
  // The second run counts as what it came to, too.
  const std::string status = text_of(evidence, "status");
  const bool watched = text_of(evidence, "phase") == "evidence";
  const bool counts = watched || !excused;
  errors += status == "error" && counts ? 1 : 0;
  crashes += status == "crash" && counts ? 1 : 0;
  timeouts += status == "timeout" && counts ? 1 : 0;
  watching_failed += watched && !status.empty() && status != "ok" ? 1 : 0;
}

int tally::judged() const {
  return std::accumulate(verdicts.begin(), verdicts.end(), 0,
                         [](int sum, const auto& counted) { return sum + counted.second; });
}

int tally::exit_status() const {
  if (interrupted) {
    return exit_status::interrupted;
  }
  if (failed > 0) {
    return exit_status::failed;
  }
  if (refused_plugins > 0 || engine_failed || not_run > 0 || watching_failed > 0) {
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
  if (watching_failed > 0) {
    line += fmt::format(" | {} of these while gathering evidence", watching_failed);
  }
  if (known > 0) {
    line += fmt::format(" | {} known", known);
  }
  if (skipped > 0) {
    line += fmt::format(" | {} skipped", skipped);
  }
  if (refused_plugins > 0) {
    line += fmt::format(" | {} plugins refused", refused_plugins);
  }
  if (not_run > 0) {
    line += fmt::format(" | {} not run", not_run);
  }
  if (not_judged > 0) {
    line += fmt::format(" | {} not judged", not_judged);
  }
  if (interrupted) {
    line += " | interrupted";
  }
  return line + fmt::format(" | {:.1f} s", elapsed_s);
}

json tally::summary(double elapsed_s) const {
  json counted = nullptr;
  if (!verdicts.empty()) {
    counted = {{"pass", 0}, {"warn", 0}, {"fail", 0}, {"unknown", 0}};
    counted.update(json(verdicts));
  }
  return {{"record", "summary"},
          {"checks", checks},
          {"on_device", on_device},
          {"errors", errors},
          {"warnings", warnings},
          {"crashes", crashes},
          {"timeouts", timeouts},
          {"known", known},
          {"skipped", skipped},
          {"not_run", not_run},
          {"not_judged", not_judged},
          {"watching_failed", watching_failed},
          {"refused_plugins", refused_plugins},
          {"devices", device_types},
          {"verdicts", std::move(counted)},
          {"elapsed_s", elapsed_s},
          {"interrupted", interrupted},
          {"exit_status", exit_status()},
          {"text", text(elapsed_s)}};
}

}  // namespace assay
