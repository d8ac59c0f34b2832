// SPDX-License-Identifier: Apache-2.0
#include "gpu_target.hpp"

#include <algorithm>
#include <initializer_list>
#include <optional>

#include "library_environment.hpp"
#include "machine.hpp"
#include "targets.hpp"
#include "text.hpp"
#include "tree.hpp"
#include "visibility.hpp"

namespace diag_rocm {
namespace {

struct target_parts {
  std::string name;
  std::vector<std::string> features;  // "xnack-"
};

target_parts parts_of(std::string_view architecture) {
  auto parts = tree::split(architecture, ':');
  target_parts found;
  if (!parts.empty()) {
    found.name = parts.front();
    found.features.assign(parts.begin() + 1, parts.end());
  }
  return found;
}

/// Members of a generic target, by how their names begin.
bool generic_serves(std::string_view generic, std::string_view gpu) {
  const auto one_of = [&](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), gpu) != names.end();
  };
  if (generic == "gfx9-generic") {
    return one_of({"gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c"});
  }
  if (generic == "gfx9-4-generic") {
    return gpu.starts_with("gfx94") || gpu == "gfx950";
  }
  if (generic == "gfx10-1-generic") {
    return gpu.size() == 7 && gpu.starts_with("gfx101");
  }
  if (generic == "gfx10-3-generic") {
    return gpu.size() == 7 && gpu.starts_with("gfx103");
  }
  if (generic == "gfx11-generic") {
    return gpu.size() == 7 && (gpu.starts_with("gfx110") || gpu.starts_with("gfx115"));
  }
  if (generic == "gfx12-generic") {
    return gpu.size() == 7 && gpu.starts_with("gfx120");
  }
  return false;
}

}  // namespace

std::string without_features(std::string_view architecture) {
  return std::string(architecture.substr(0, architecture.find(':')));
}

std::string architecture_of_override(std::string_view text) {
  const auto parts = tree::split(text, '.');
  if (parts.size() != 3) {
    return {};
  }
  const auto major = number(parts[0]);
  const auto minor = number(parts[1]);
  const auto stepping = number(parts[2]);
  return major && minor && stepping && *minor < 16 && *stepping < 16
             ? target_name(static_cast<std::uint32_t>(*major), static_cast<std::uint32_t>(*minor),
                           static_cast<std::uint32_t>(*stepping))
             : std::string();
}

bool code_serves(std::string_view code, std::string_view gpu) {
  const target_parts from = parts_of(code);
  const target_parts on = parts_of(gpu);
  if (from.name == "amdgcnspirv") {
    return true;
  }
  if (from.name != on.name && !generic_serves(from.name, on.name)) {
    return false;
  }
  // A feature that the code does not name may be either; one that the GPU does not name is unknown.
  return std::all_of(from.features.begin(), from.features.end(), [&](const std::string& wanted) {
    const std::string_view name = std::string_view(wanted).substr(0, wanted.size() - 1);
    return std::none_of(on.features.begin(), on.features.end(), [&](const std::string& has) {
      return has.size() == wanted.size() && has.starts_with(name) && has != wanted;
    });
  });
}

std::vector<gpu_target> gpu_targets(const assay::probe_site& site, const environment& variables) {
  if (!site.architecture.empty()) {
    return {{site.architecture, "as asked for", {}}};
  }
  const auto all = look_at(site).gpus;
  const auto visible = visible_gpus(all, variables, system_of(site)).left;
  // Where everything is hidden, that is another probe's answer.
  const auto& gpus = visible.empty() ? all : visible;
  std::vector<gpu_target> found;
  for (const gpu& g : gpus) {
    if (g.architecture.empty()) {
      continue;
    }
    gpu_target target{g.architecture, "of KFD node " + std::to_string(g.node), {g.node}};
    const std::string name = "HSA_OVERRIDE_GFX_VERSION";
    for (const std::string& variable : {name + "_" + std::to_string(g.node), name}) {
      const auto text = filled(variables, variable);
      std::string overridden = text ? architecture_of_override(*text) : std::string();
      if (!overridden.empty()) {
        target.architecture = std::move(overridden);
        target.source = "which " + variable + " makes of " + g.architecture;
        break;
      }
    }
    const auto same = std::find_if(found.begin(), found.end(), [&](const gpu_target& known) {
      return known.architecture == target.architecture;
    });
    if (same == found.end()) {
      found.push_back(std::move(target));
    } else {
      same->nodes.push_back(g.node);
    }
  }
  return found;
}

}  // namespace diag_rocm
