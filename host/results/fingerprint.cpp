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
       {"json",          "junit",        "no-color",     "config",         "list-only",
        "timeout",       "chrome-trace", "torch",        "plugin-dir",     "trust-plugins",
        "probe-timeout", "probe-prefix", "enable",       "disable",        "refresh-ceilings",
        "split",         "trace-libs",   "known-issues", "plugins-lock",   "save",
        "against",       "store",        "fail-on",      "across-devices", "full-environment"}) {
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
  const auto note_number = [&](object from, std::string_view member, const std::string& name) {
    if (const auto number = number_in(from, member); number && *number > 0.0) {
      run.ceilings[fmt::format(fmt::runtime(name), device)] = *number;
    }
  };
  note_number(record, "copy_gb_per_s", "ceiling copy of {}, GB/s");
  note_number(record, "read_gb_per_s", "ceiling read of {}, GB/s");
  note_number(record, "host_to_device_gb_per_s", "ceiling host to device of {}, GB/s");
  note_number(record, "device_to_host_gb_per_s", "ceiling device to host of {}, GB/s");
  if (const auto rates = object_in(record, "matrix_tflop_per_s")) {
    for (const auto field : *rates) {
      note_number(*rates, field.key,
                  "ceiling matrix rate " + std::string(field.key) + " of {}, TFLOP/s");
    }
  }
}

void note_recorded(saved_run& run, const std::string& name, std::string value) {
  if (!value.empty()) {
    run.recorded.insert(name);
    note(run, name, std::move(value));
  }
}

/// A line of LibTorch's settings as a name and its value: "OpenMP 201511", "CPU capability usage:
/// AVX512", "LAPACK is enabled".
void note_setting(saved_run& run, std::string_view line) {
  constexpr std::string_view title = "Build settings: ";
  if (line.starts_with(title)) {
    line.remove_prefix(title.size());
    while (!line.empty()) {
      const std::string_view one = line.substr(0, line.find(", "));
      line.remove_prefix(std::min(one.size() + 2, line.size()));
      const auto equals = one.find('=');
      const std::string key(one.substr(0, equals));
      if (equals != std::string_view::npos && key != "TORCH_VERSION" && key != "COMMIT_SHA") {
        note_recorded(run, "LibTorch " + key, std::string(one.substr(equals + 1)));
      }
    }
    return;
  }
  const auto colon = line.find(": ");
  const auto split = colon != std::string_view::npos ? colon : line.find_first_of("0123456789");
  if (split == std::string_view::npos || split == 0) {
    note_recorded(run, "LibTorch: " + std::string(line), "yes");
    return;
  }
  std::string_view name = line.substr(0, split);
  name = name.substr(0, name.find_last_not_of(' ') + 1);
  note_recorded(run, "LibTorch " + std::string(name),
                std::string(line.substr(colon == std::string_view::npos ? split : split + 2)));
}

void note_libtorch(saved_run& run, object libtorch) {
  constexpr std::size_t enough = 12;
  note_recorded(run, "LibTorch sources", text_in(libtorch, "git_hash").substr(0, enough));
  note_recorded(run, "LibTorch's CUDA", text_in(libtorch, "cuda"));
  note_recorded(run, "LibTorch's cuDNN", text_in(libtorch, "cudnn"));
  note_recorded(run, "LibTorch's HIP", text_in(libtorch, "hip"));
  note_recorded(run, "LibTorch's MIOpen", text_in(libtorch, "miopen"));
  if (const auto settings = list_in(libtorch, "settings")) {
    for (const auto element : *settings) {
      std::string_view line;
      if (element.get(line) == simdjson::SUCCESS) {
        note_setting(run, line);
      }
    }
  }
}

std::string in_gigabytes(object from) {
  const auto bytes = number_in(from, "memory_bytes");
  return bytes ? fmt::format("{:.3g} GB", *bytes / 1e9) : "";
}

template <typename Note>
void for_each_object(const std::optional<simdjson::dom::array>& list, const Note& note_one) {
  if (list) {
    for (const auto element : *list) {
      object one;
      if (element.get(one) == simdjson::SUCCESS) {
        note_one(one);
      }
    }
  }
}

void note_machine(saved_run& run, object record) {
  if (const auto libtorch = object_in(record, "libtorch")) {
    note_libtorch(run, *libtorch);
  }
  for_each_object(list_in(record, "drivers"), [&](object driver) {
    const std::string version = text_in(driver, "version");
    note_recorded(run, "driver " + text_in(driver, "name"),
                  version.empty() ? "the kernel's own" : version);
  });
  for_each_object(list_in(record, "devices"), [&](object device) {
    note_recorded(run, "memory of " + text_in(device, "device"), in_gigabytes(device));
  });
  if (const auto system = object_in(record, "system")) {
    note_recorded(run, "OS", text_in(*system, "os"));
    note_recorded(run, "kernel", text_in(*system, "kernel"));
    note_recorded(run, "C library", text_in(*system, "c_library"));
    if (const auto count = number_in(*system, "processors")) {
      note_recorded(run, "processors", fmt::format("{:.0f}", *count));
    }
  }
  if (const auto variables = object_in(record, "variables")) {
    for (const auto field : *variables) {
      std::string_view value;
      if (field.value.get(value) == simdjson::SUCCESS) {
        note_recorded(run, fmt::format("variable {}", field.key),
                      value.empty() ? "set to nothing" : std::string(value));
      }
    }
  }
  run.recorded.insert("environment record");
}

std::string known_value(const saved_run& run, const std::string& name) {
  const auto known = std::find_if(run.environment.begin(), run.environment.end(),
                                  [&](const auto& entry) { return entry.first == name; });
  return known == run.environment.end() ? "" : known->second;
}

/// What held a device back before the run or after it: clocks themselves are another each time.
void note_throttling(saved_run& run, object device, const std::string& name) {
  const auto reasons = list_in(device, "throttled");
  if (!reasons) {
    return;
  }
  const std::string entry = "held back, " + name;
  std::string known = known_value(run, entry);
  known = known == "by nothing" ? "" : known;
  for (const auto element : *reasons) {
    std::string_view reason;
    if (element.get(reason) == simdjson::SUCCESS && known.find(reason) == std::string::npos) {
      known += (known.empty() ? "by " : ", ") + std::string(reason);
    }
  }
  note_recorded(run, entry, known.empty() ? "by nothing" : known);
}

void note_clocks(saved_run& run, object record) {
  note_recorded(run, "driver nvidia", text_in(record, "driver"));
  const bool before = text_in(record, "when") == "before";
  for_each_object(list_in(record, "devices"), [&](object device) {
    const std::string name = text_in(device, "device");
    note_throttling(run, device, name);
    const auto count = number_in(device, "throttle_count");
    if (before) {
      const auto note_limit = [&](const char* member, const char* what, const char* unit) {
        if (const auto limit = number_in(device, member)) {
          note_recorded(run, fmt::format("{} of {}", what, name),
                        fmt::format("{:.0f} {}", *limit, unit));
        }
      };
      note_limit("power_cap_w", "power cap", "W");
      note_limit("clock_max_mhz", "highest clock", "MHz");
      note_limit("memory_clock_max_mhz", "highest memory clock", "MHz");
      note_recorded(run, "governor of " + name, text_in(device, "governor"));
      if (count) {
        run.throttle_count = *count;
      }
    } else if (count && run.throttle_count) {
      note_recorded(run, "throttled during the run, " + name,
                    *count > *run.throttle_count ? "yes" : "no");
    }
  });
}

bool begins_with_any(std::string_view name, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return name.starts_with(word); });
}

}  // namespace

const char* environment_group_of(std::string_view name) {
  enum : std::size_t {
    assay_itself,
    libtorch,
    driver,
    device,
    system,
    variables,
    plugins,
    options,
    ceilings,
    clocks
  };
  const auto group = [&]() -> std::size_t {
    if (name == "assay" || name == "environment record") return assay_itself;
    if (name == "build" || name.starts_with("LibTorch")) return libtorch;
    if (name.starts_with("driver ")) return driver;
    if (name == "OS" || name == "kernel" || name == "C library" || name == "processors") {
      return system;
    }
    if (name.starts_with("variable ")) return variables;
    if (name.starts_with("plugin ")) return plugins;
    if (name.starts_with("--")) return options;
    if (name.starts_with("ceiling ")) return ceilings;
    return begins_with_any(name, {"power cap ", "highest ", "governor ", "held back", "throttled "})
               ? clocks
               : device;
  };
  return environment_groups.at(group());
}

void note_environment(saved_run& run, std::string_view kind, object record) {
  if (kind == "run") {
    note_run(run, record);
  } else if (kind == "engine") {
    note_engine(run, record);
  } else if (kind == "plugin") {
    note_plugin(run, record);
  } else if (kind == "ceilings") {
    note_ceilings(run, record);
  } else if (kind == "environment") {
    note_machine(run, record);
  } else if (kind == "clocks") {
    note_clocks(run, record);
  }
}

}  // namespace assay
