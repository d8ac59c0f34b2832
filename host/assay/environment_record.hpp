// SPDX-License-Identifier: Apache-2.0
//
// What a run was made with, as the result file has it: the records `environment` and `clocks`.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "torch_locate.hpp"

namespace assay {

/// The variables that matter, and the patterns that chose them.
struct known_variables {
  std::vector<std::string> watched;
  std::map<std::string, std::string> set;
};

/// The record `environment`. What the engine told of its build settings moves there: `engine` loses
/// its member "config". `root`: the file system to read.
nlohmann::json environment_record(nlohmann::json& engine, const torch_install* torch,
                                  const known_variables& variables,
                                  const std::filesystem::path& root = "/");

/// The record `clocks` of the devices in use ("cpu", "cuda:0"). `when`: "before" or "after".
/// `management`: the worker's record `clocks`, or null where it was not asked.
nlohmann::json clocks_record(const std::string& when, const std::vector<std::string>& devices,
                             const nlohmann::json& engine, const nlohmann::json& management,
                             const std::filesystem::path& root = "/");

}  // namespace assay
