// SPDX-License-Identifier: Apache-2.0
#include "advice.hpp"

#include <algorithm>

#include "library_data.hpp"
#include "targets.hpp"
#include "text.hpp"
#include "torch_targets.hpp"
#include "visibility.hpp"

namespace diag_rocm {

namespace {

const std::string override_variable = "HSA_OVERRIDE_GFX_VERSION";

bool holds(const std::vector<int>& nodes, int node) {
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

/// Whether everything that can be read and needs code for the GPU has it for this target. The
/// override changes what LibTorch and every library load, so one that has it is not enough.
bool code_is_there(const assay::probe_site& site, const environment& variables,
                   const std::string& name) {
  bool seen = false;
  if (const auto code = code_targets_of_torch(site)) {
    seen = std::any_of(code->begin(), code->end(),
                       [&](const std::string& each) { return code_serves(each, name); });
    if (!seen) {
      return false;
    }
  }
  const data_folder data = rocblas_data(site, variables);
  if (!data.folder.empty()) {
    const auto files = data.targets.find(name);
    seen = files != data.targets.end() && (files->second.index || data.plain_index);
  }
  return seen;
}

/// The variable for this target's GPUs alone, where there are others.
std::vector<std::string> override_names(const assay::probe_site& site,
                                        const std::string& architecture) {
  std::vector<std::string> of_nodes;
  bool others = false;
  for (const gpu& g : look_at(site).gpus) {
    if (g.architecture == architecture) {
      of_nodes.push_back(override_variable + "_" + std::to_string(g.node));
    } else {
      others = true;
    }
  }
  return of_nodes.empty() || !others ? std::vector{override_variable} : of_nodes;
}

std::string advice_to_lend(const assay::probe_site& site, const environment& variables,
                           const std::string& architecture) {
  const target* const own = find_target(architecture);
  const bool overridden = std::any_of(variables.begin(), variables.end(), [](const auto& variable) {
    return variable.first.rfind(override_variable, 0) == 0;
  });
  // Linux alone reads the variable.
  if (own == nullptr || overridden || system_of(site) != system_kind::linux_os) {
    return {};
  }
  for (const std::string_view value : {own->override_value, own->second_override}) {
    const std::string name = architecture_of_override(value);
    const target* const other = find_target(name);
    if (other == nullptr || other->group != own->group || !code_is_there(site, variables, name)) {
      continue;
    }
    std::string steps = "Where no build for " + architecture + " can be had: code for " + name +
                        ", of the same generation, is there, and can be lent. The risk: nobody " +
                        "tests this, so kernels may hang or compute wrong numbers; compare with "
                        "the CPU, and unset it once a build has " +
                        architecture + ".";
    for (const std::string& variable : override_names(site, architecture)) {
      steps += "\n" + setting_step(system_kind::linux_os, variable, std::string(value));
    }
    return steps;
  }
  return {};
}

}  // namespace

std::string setting_step(system_kind system, const std::string& name, const std::string& value) {
  const std::string assigned = name + "=" + value;
  return system == system_kind::windows
             ? "In cmd:\n$ set " + assigned + "\nIn PowerShell:\n$ $env:" + name + " = '" + value +
                   "'"
             : "$ export " + assigned;
}

std::string unsetting_steps(system_kind system, const std::vector<std::string>& names) {
  if (system != system_kind::windows) {
    return "$ unset " + joined(names, " ");
  }
  std::string in_cmd = "In cmd:";
  std::string in_powershell = "In PowerShell:\n$ Remove-Item ";
  for (const std::string& name : names) {
    in_cmd += "\n$ set " + name + "=";
    in_powershell += (&name == &names.front() ? "Env:" : ", Env:") + name;
  }
  return in_cmd + "\n" + in_powershell;
}

std::vector<gpu> gpus_that_hip_counts(const std::vector<gpu>& gpus, const environment& variables,
                                      system_kind system) {
  environment outer;
  if (is_set(variables, "ROCR_VISIBLE_DEVICES")) {
    outer.emplace("ROCR_VISIBLE_DEVICES", value_of(variables, "ROCR_VISIBLE_DEVICES"));
  }
  return visible_gpus(gpus, outer, system).left;
}

std::string numbers_of(const std::vector<gpu>& counted) {
  std::vector<std::string> parts;
  for (std::size_t from = 0; from < counted.size();) {
    const std::string text = described(counted[from]);
    std::size_t end = from + 1;
    while (end < counted.size() && described(counted[end]) == text) {
      ++end;
    }
    parts.push_back(std::to_string(from) +
                    (end == from + 1 ? " is " : " to " + std::to_string(end - 1) + " are ") + text);
    from = end;
  }
  return joined(parts, ", ");
}

std::string numbers_for(const std::vector<int>& nodes, const std::vector<gpu>& counted) {
  std::vector<std::string> numbers;
  for (std::size_t i = 0; i < counted.size(); ++i) {
    if (holds(nodes, counted[i].node)) {
      numbers.push_back(std::to_string(i));
    }
  }
  return joined(numbers, ",");
}

std::string advice_on_lack(const assay::probe_site& site, const environment& variables,
                           const std::vector<gpu_target>& lacking,
                           const std::vector<gpu_target>& served) {
  const system_kind system = system_of(site);
  std::vector<int> good;
  for (const gpu_target& each : served) {
    good.insert(good.end(), each.nodes.begin(), each.nodes.end());
  }
  const auto counted = gpus_that_hip_counts(look_at(site).gpus, variables, system);
  std::vector<std::string> discrete;
  for (const gpu_target& each : lacking) {
    const bool integrated =
        !each.nodes.empty() && std::all_of(counted.begin(), counted.end(), [&](const gpu& g) {
          return g.integrated || !holds(each.nodes, g.node);
        });
    if (!integrated) {
      discrete.push_back(without_features(each.architecture));
    }
  }
  if (const std::string numbers = numbers_for(good, counted);
      !numbers.empty() && discrete.empty()) {
    return "Hide the processor's own GPU, which has none (HIP's numbers: " + numbers_of(counted) +
           "):\n" + setting_step(system, "HIP_VISIBLE_DEVICES", numbers);
  }
  // Several values would have to be weighed against each other.
  if (discrete.size() > 1 || (discrete.empty() && lacking.size() != 1)) {
    return {};
  }
  return advice_to_lend(
      site, variables,
      discrete.empty() ? without_features(lacking.front().architecture) : discrete.front());
}

}  // namespace diag_rocm
