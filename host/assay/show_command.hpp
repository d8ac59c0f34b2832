// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>

#include <vector>
#include "options.hpp"
#include "supervisor.hpp"

namespace assay {

/// `assay show`: finds the check and prints it. Throws usage_error where there is none, and
/// tool_error where its plugin was refused.
int show_command(const show_request& request, const installation& here, std::ostream& out);

/// A check's inputs and plan for people. `check_record` is a `check` record of
/// docs/architecture.md; `dtype` is one of its dtypes.
std::string show_check(const nlohmann::json& check_record, const std::string& dtype,
                       const nlohmann::json& plugin_record = nullptr);

/// Why a check may be missing: "; plugin com.acme.ops is off (--disable 'plugin:com.*')".
struct missing_check {
  std::string text;
  bool refused = false;  // a plugin that `text` names was refused
};

/// The plugins that are not loaded and whose name or file says that they may have the check; where
/// none does, and not `only_likely`, all that are not loaded.
missing_check why_not_there(const std::string& check, const std::vector<nlohmann::json>& plugins,
                            bool only_likely);

/// A Python script that runs the check on the very inputs that the engine makes. It needs torch and
/// nothing of assay.
std::string python_reproducer(const nlohmann::json& check_record, const std::string& dtype,
                              const std::string& device, std::uint64_t seed);

/// A number of a plan as Python writes it. JSON has no infinity and no NaN: they come as "inf",
/// "-inf" and "nan".
std::string python_number(const nlohmann::json& number);

}  // namespace assay
