// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "requirements.hpp"
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
  std::string unmet;      // what it requires and is known not to be there: it will be skipped
  bool requires_something = false;
  asked_requirements ask;  // what else it requires
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

/// Which checks run, in the catalogue's order, device by device, a baseline first. `engine` is the
/// record of LibTorch and its devices; null: not known yet, and what checks require is not judged.
/// Throws as check_globs().
schedule make_schedule(const catalogue& all, const run_options& options,
                       const std::vector<std::string>& devices, const nlohmann::json& engine);

}  // namespace assay
