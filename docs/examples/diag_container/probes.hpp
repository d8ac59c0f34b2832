// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <assay/plugin.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace container {

/// How this process was put into a container, and what shows it.
struct marks {
  std::string runtime;
  std::string evidence;
};
std::optional<marks> marks_of(const assay::probe_site& site);

/// The variables of the process; of another root those in its proc/1/environ.
std::map<std::string, std::string> variables_of(const assay::probe_site& site);
/// Nothing where it cannot be read.
std::string text_of(const std::filesystem::path& file);
bool is_there(const std::filesystem::path& file);

std::unique_ptr<assay::probe> make_inside();
std::unique_ptr<assay::probe> make_devices();
std::unique_ptr<assay::probe> make_nvidia_toolkit();
std::unique_ptr<assay::probe> make_driver_capabilities();
std::unique_ptr<assay::classifier> make_missing_device();

}  // namespace container
