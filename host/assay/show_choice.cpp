// SPDX-License-Identifier: Apache-2.0
//
// assay show: which check is meant, and in which form.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ostream>

#include "collected_run.hpp"
#include "errors.hpp"
#include "host/common/nearest.hpp"
#include "selection.hpp"
#include "show_command.hpp"
#include "show_toml.hpp"

namespace assay {
namespace {

using nlohmann::json;

json plugin_of(const catalogue& found, const json& check) {
  const auto known = std::find_if(found.plugins.begin(), found.plugins.end(), [&](const auto& one) {
    return one.value("status", "") == "loaded" && one.at("id") == check.at("plugin");
  });
  return known == found.plugins.end() ? json() : *known;
}

/// The dtype to show `check` with: of the id, else of the options, else the check's first.
std::string dtype_to_show(const json& check, const std::string& id_dtype,
                          const run_options& options) {
  const auto dtypes = check.value("dtypes", std::vector<std::string>{});
  const auto has = [&](const std::string& dtype) {
    return std::find(dtypes.begin(), dtypes.end(), dtype) != dtypes.end();
  };
  const bool on_command_line = options.settings.at("dtype").source == option_source::command_line;
  if (on_command_line && options.dtypes.size() > 1) {
    throw usage_error("assay show takes one --dtype");
  }
  std::string wanted = id_dtype;
  if (on_command_line) {
    if (!id_dtype.empty() && id_dtype != options.dtypes.front()) {
      throw usage_error(fmt::format("the check's name says {} and --dtype says {}; leave one out",
                                    id_dtype, options.dtypes.front()));
    }
    wanted = options.dtypes.front();
  }
  if (!wanted.empty()) {
    if (!has(wanted)) {
      throw usage_error(fmt::format("{} does not run as {}; it has {}{}", check.value("check", ""),
                                    wanted, fmt::join(dtypes, ", "), did_you_mean(wanted, dtypes)));
    }
    return wanted;
  }
  // A configuration is written for whole runs, so that it need not suit this check.
  const auto suits = std::find_if(options.dtypes.begin(), options.dtypes.end(), has);
  if (suits != options.dtypes.end()) {
    return *suits;
  }
  return dtypes.empty() ? "" : dtypes.front();
}

/// Python knows no device "hip" and no "auto": a reproducer is for the GPU unless the CPU was
/// named.
std::string python_device(const std::string& device) {
  if (device == "cpu") {
    return device;
  }
  const auto colon = device.find(':');
  return colon == std::string::npos ? "cuda" : "cuda" + device.substr(colon);
}

[[noreturn]] void refuse_unknown_check(const std::string& what, const std::string& check,
                                       const std::vector<std::string>& names,
                                       const std::vector<json>& plugins) {
  const std::string near = did_you_mean(check, names);
  const missing_check reasons = why_not_there(check, plugins, !near.empty());
  const bool nothing_known = near.empty() && reasons.text.empty();
  const std::string line =
      what + reasons.text + near + (nothing_known ? "; assay list names the checks" : "");
  if (reasons.refused) {
    throw tool_error(line);
  }
  throw usage_error(line);
}

/// A check by its name, or those that the glob matches, as --enable understands it.
int show_as_toml(const std::string& wanted, const run_options& options, const installation& here,
                 std::ostream& out) {
  if (options.settings.at("dtype").source == option_source::command_line) {
    throw usage_error("--toml prints a check with all its dtypes; leave --dtype out");
  }
  const catalogue found = read_catalogue(here, options);
  const selector asked = parse_selector("assay show", wanted);
  std::map<std::string, plugin_identity> owners;
  for (const json& plugin : found.plugins) {
    owners[plugin.value("id", "")] = identity_of(plugin);
  }
  std::vector<const json*> chosen;
  std::vector<std::string> names;
  for (const json& check : found.checks) {
    names.push_back(check.value("check", ""));
    const auto dtypes = check.value("dtypes", std::vector<std::string>{});
    const bool selected = std::any_of(dtypes.begin(), dtypes.end(), [&](const auto& dtype) {
      return matches(asked, owners[check.value("plugin", "")],
                     {check.value("category", ""), check.value("name", ""), dtype});
    });
    if (names.back() == wanted || selected) {
      chosen.push_back(&check);
    }
  }
  if (chosen.empty()) {
    refuse_unknown_check(fmt::format("no check is called '{}', and none matches it", wanted),
                         wanted, names, found.plugins);
  }
  out << show_toml(chosen, found.plugins) << std::flush;
  return exit_status::ok;
}

}  // namespace

int show_command(const show_request& request, const installation& here, std::ostream& out) {
  if (request.toml) {
    return show_as_toml(request.check, request.options, here, out);
  }
  std::string name = request.check;
  std::string dtype;
  const auto bracket = name.find('[');
  if (bracket != std::string::npos && name.back() == ']') {
    dtype = name.substr(bracket + 1, name.size() - bracket - 2);
    name.erase(bracket);
  }
  const catalogue found = read_catalogue(here, request.options);
  std::vector<std::string> names;
  for (const json& check : found.checks) {
    names.push_back(check.value("check", ""));
  }
  const auto position = std::find(names.begin(), names.end(), name);
  if (position == names.end()) {
    refuse_unknown_check(fmt::format("there is no check '{}'", name), name, names, found.plugins);
  }
  const json& check = found.checks[static_cast<std::size_t>(position - names.begin())];
  dtype = dtype_to_show(check, dtype, request.options);
  out << (request.python ? python_reproducer(check, dtype, python_device(request.options.device),
                                             request.options.seed)
                         : show_check(check, dtype, plugin_of(found, check)))
      << std::flush;
  return exit_status::ok;
}

}  // namespace assay
