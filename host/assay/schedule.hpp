// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "run_options.hpp"
#include "supervisor.hpp"

namespace assay {

/// One check under one dtype on one device.
struct planned_check {
  std::string check;  // "category/name"
  std::string category, name, dtype, device, plugin;
  bool only_aten = true;  // every operator of its plan is LibTorch's own
  bool own_dtype = true;  // the dtype is the check's first
  bool large = false;     // its large form runs
  bool baseline = false;  // it runs on the CPU to be compared with, and was not asked for itself
  [[nodiscard]] std::string id() const { return check + "[" + dtype + "]"; }
};

struct left_out_check {
  std::string id, reason;
};

struct schedule {
  std::vector<planned_check> checks;
  std::vector<left_out_check> not_selected;
};

/// The devices that --device means on this LibTorch, "cpu" or "cuda:N". Throws usage_error or
/// tool_error.
std::vector<std::string> choose_devices(const std::string& asked, const nlohmann::json& engine);

/// Throws usage_error for a glob of --enable or --disable that matches nothing. Where a plugin was
/// refused or is off, its checks may be what is meant, so that nothing is thrown; where one is off,
/// standard error gets a line.
void check_globs(const catalogue& all, const run_options& options);

/// Which checks run, in the catalogue's order, device by device, a baseline first. `build` is
/// LibTorch's ("" before it is known). Throws as check_globs().
schedule make_schedule(const catalogue& all, const run_options& options,
                       const std::vector<std::string>& devices, const std::string& build);

}  // namespace assay
