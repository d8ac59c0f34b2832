// SPDX-License-Identifier: Apache-2.0
#include "schedule.hpp"

#include <algorithm>
#include <map>

#include "errors.hpp"

namespace assay {

namespace {

using nlohmann::json;

std::vector<std::string> dtypes_to_run(const json& check, const run_options& options,
                                       const selection& chosen_by, const plugin_identity& plugin) {
  const auto known = check.at("dtypes").get<std::vector<std::string>>();
  if (options.dtypes.empty()) {
    const std::string category = check.at("category");
    const std::string name = check.at("name");
    std::vector<std::string> chosen{known.front()};
    for (const std::string& dtype : known) {
      if (dtype != known.front() && chosen_by.names_dtype(plugin, {category, name, dtype}, known)) {
        chosen.push_back(dtype);
      }
    }
    return chosen;
  }
  std::vector<std::string> chosen;
  for (const std::string& wanted : options.dtypes) {
    if (std::find(known.begin(), known.end(), wanted) != known.end()) {
      chosen.push_back(wanted);
    }
  }
  return chosen;
}

bool only_aten(const json& check) {
  return std::all_of(check.at("plan").begin(), check.at("plan").end(), [](const json& call) {
    return call.at("op").get<std::string>().starts_with("aten::");
  });
}

std::string why_not(const planned_check& check, const selection& chosen_by,
                    const plugin_identity& plugin) {
  const ruling ruled = chosen_by.check(plugin, {check.category, check.name, check.dtype});
  return ruled.on ? "" : ruled.disabled ? "disabled" : "not enabled";
}

// With a baseline all devices run at the same sizes: nothing else can be compared.
bool wants_large(const run_options& options, const std::vector<std::string>& devices,
                 const std::string& device) {
  if (options.sizes != "auto") {
    return options.sizes == "large";
  }
  const auto is_cpu = [](const std::string& name) { return name == "cpu"; };
  const bool only_cpu = std::all_of(devices.begin(), devices.end(), is_cpu);
  return options.evidence && options.profile == "measure" &&
         (options.baseline.empty() ? !is_cpu(device) : !only_cpu);
}

}  // namespace

std::vector<std::string> choose_devices(const std::string& asked, const json& engine) {
  std::vector<std::string> known;
  for (const json& device : engine.at("devices")) {
    known.push_back(device.at("device"));
  }
  const std::string build = engine.at("build");
  const bool has_gpu = known.size() > 1;
  if (asked == "cpu") {
    return {"cpu"};
  }
  if (asked == "auto") {
    return {has_gpu ? known[1] : known[0]};
  }
  if (asked == "all") {
    return known;
  }
  const auto colon = asked.find(':');
  const std::string kind = asked.substr(0, colon);
  const std::string device = "cuda:" + (colon == std::string::npos ? "0" : asked.substr(colon + 1));
  if (kind == "hip" && build == "cuda") {
    throw usage_error("--device " + asked + ": this LibTorch is a CUDA build; use cuda");
  }
  if (!has_gpu) {
    const std::string why = engine.at("backend_error");
    throw tool_error("--device " + asked + ": LibTorch " +
                     engine.at("torch_version").get<std::string>() + " (" + build +
                     " build) sees no GPU" + (why.empty() ? "" : ": " + why) +
                     "; --device cpu runs without one");
  }
  if (std::find(known.begin(), known.end(), device) == known.end()) {
    const std::size_t gpus = known.size() - 1;
    throw usage_error("--device " + asked + ": there " +
                      (gpus == 1 ? "is 1 GPU" : "are " + std::to_string(gpus) + " GPUs") +
                      ", the last is " + known.back());
  }
  return {device};
}

schedule make_schedule(const catalogue& all, const run_options& options,
                       const std::vector<std::string>& devices, const json& engine) {
  struct loaded_plugin {
    plugin_identity identity;
    json record;
  };
  std::map<std::string, loaded_plugin> plugins;
  for (const json& plugin : all.plugins) {
    if (plugin.at("status") == "loaded") {
      plugins[plugin.at("id")] = {identity_of(plugin), plugin};
    }
  }
  const selection chosen_by(options);
  check_globs(all, options);
  schedule plan;
  std::vector<std::string> in_order = devices;
  const bool baseline = !options.baseline.empty() &&
                        std::find(devices.begin(), devices.end(), "cpu") == devices.end();
  if (baseline) {
    in_order.insert(in_order.begin(), "cpu");
  }
  for (const std::string& device : in_order) {
    const bool large = wants_large(options, devices, device);
    const run_site site = site_of(engine, device);
    for (const json& check : all.checks) {
      planned_check planned;
      planned.check = check.at("check");
      planned.category = check.at("category");
      planned.name = check.at("name");
      planned.plugin = check.at("plugin");
      planned.device = device;
      planned.only_aten = only_aten(check);
      planned.large = large && check.contains("large") && !check.at("large").is_null();
      planned.baseline = baseline && device == "cpu";
      const loaded_plugin& plugin = plugins[planned.plugin];
      const auto needs = requirements_of(check, plugin.record);
      planned.unmet = engine.is_null() ? "" : unmet(needs, site);
      planned.requires_something = !requirements_text(needs).empty();
      planned.ask = to_ask(needs);
      const auto dtypes = dtypes_to_run(check, options, chosen_by, plugin.identity);
      if (dtypes.empty() && device == devices.front()) {
        plan.not_selected.push_back({planned.check, "it does not come in the dtype asked for"});
      }
      for (const std::string& dtype : dtypes) {
        planned.dtype = dtype;
        planned.own_dtype = check.at("dtypes").front().get<std::string>() == dtype;
        const std::string reason = why_not(planned, chosen_by, plugin.identity);
        if (reason.empty()) {
          plan.checks.push_back(planned);
        } else if (device == devices.front()) {
          plan.not_selected.push_back({planned.id(), reason});
        }
      }
    }
  }
  return plan;
}

}  // namespace assay
