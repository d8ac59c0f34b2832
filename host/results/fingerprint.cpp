// SPDX-License-Identifier: Apache-2.0
#include "fingerprint.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "json_members.hpp"

namespace assay {

namespace {

using simdjson::dom::object;

void note(saved_run& run, const std::string& name, std::string value) {
  if (value.empty()) {
    return;
  }
  const auto known = std::find_if(run.environment.begin(), run.environment.end(),
                                  [&](const auto& entry) { return entry.first == name; });
  if (known == run.environment.end()) {
    run.environment.emplace_back(name, std::move(value));
  } else {
    known->second = std::move(value);  // a later record counts, as in the run itself
  }
}

// Where results go, how they look and how long a check may take changes no result.
bool matters(std::string_view option) {
  for (const std::string_view other :
       {"json",          "junit",        "no-color",     "config",        "list-only",
        "timeout",       "chrome-trace", "torch",        "plugin-dir",    "trust-plugins",
        "probe-timeout", "probe-prefix", "enable",       "disable",       "refresh-ceilings",
        "split",         "trace-libs",   "known-issues", "plugins-lock",  "save",
        "against",       "store",        "fail-on",      "across-devices"}) {
    if (option == other) {
      return false;
    }
  }
  return true;
}

void note_run(saved_run& run, object record) {
  note(run, "assay", text_in(record, "assay_version"));
  const auto options = object_in(record, "options");
  if (!options) {
    return;
  }
  for (const auto field : *options) {
    object setting;
    if (matters(field.key) && field.value.get(setting) == simdjson::SUCCESS) {
      note(run, fmt::format("--{}", field.key), text_in(setting, "value"));
    }
  }
}

void note_engine(saved_run& run, object record) {
  const std::string package = text_in(record, "torch_package");
  note(run, "LibTorch", package.empty() ? text_in(record, "torch_version") : package);
  note(run, "build", text_in(record, "build"));
  const auto devices = list_in(record, "devices");
  if (!devices) {
    return;
  }
  for (const auto element : *devices) {
    object device;
    if (element.get(device) != simdjson::SUCCESS) {
      continue;
    }
    const std::string name = text_in(device, "device");
    const std::string architecture = text_in(device, "architecture");
    note(run, name,
         fmt::format("{} ({})", text_in(device, "name"),
                     architecture.empty() ? "architecture not known" : architecture));
    run.architectures[name] = architecture;
  }
}

void note_plugin(saved_run& run, object record) {
  const std::string id = text_in(record, "id");
  if (id.empty()) {
    return;
  }
  const std::string status = text_in(record, "status");
  const std::string hash = text_in(record, "sha256");
  note(run, "plugin " + id,
       fmt::format("{}{}{}", text_in(record, "version"), status == "loaded" ? "" : ", " + status,
                   hash.empty() ? "" : ", sha256 " + hash.substr(0, 12)));
}

// Ceilings are measurements: a comparison of their digits would call every run another environment.
void note_ceilings(saved_run& run, object record) {
  const std::string device = text_in(record, "device");
  if (const auto copy = number_in(record, "copy_gb_per_s")) {
    run.copy_gb_per_s[device] = *copy;
  }
}

}  // namespace

void note_environment(saved_run& run, std::string_view kind, object record) {
  if (kind == "run") {
    note_run(run, record);
  } else if (kind == "engine") {
    note_engine(run, record);
  } else if (kind == "plugin") {
    note_plugin(run, record);
  } else if (kind == "ceilings") {
    note_ceilings(run, record);
  }
}

}  // namespace assay
