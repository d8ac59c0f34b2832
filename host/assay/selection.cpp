// SPDX-License-Identifier: Apache-2.0
#include "selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "collected_run.hpp"
#include "errors.hpp"
#include "host/common/glob.hpp"
#include "host/common/nearest.hpp"
#include "option_values.hpp"

namespace assay {

namespace {

using kind = selector::kind;

constexpr std::array<std::pair<std::string_view, kind>, 4> prefixes{{
    {"plugin", kind::plugin},
    {"vendor", kind::vendor},
    {"accelerator", kind::accelerator},
    {"dtype", kind::dtype},
}};

selection::list read_list(const run_options& options, const std::string& name,
                          const std::vector<std::string>& texts) {
  const auto setting = options.settings.find(name);
  selection::list made;
  made.origin = setting == options.settings.end() || setting->second.origin.empty()
                    ? "--" + name
                    : setting->second.origin;
  for (const std::string& text : texts) {
    made.globs.push_back(parse_selector(made.origin, text));
  }
  return made;
}

std::string line_of(const selection::list& from, const selector& one) {
  return fmt::format("{} '{}'", from.origin, one.text);
}

}  // namespace

selector parse_selector(const std::string& origin, const std::string& text) {
  const auto colon = text.find(':');
  if (colon == std::string::npos) {
    return {kind::check, text, text};
  }
  const std::string prefix = text.substr(0, colon);
  std::string glob = text.substr(colon + 1);
  std::vector<std::string_view> names;
  for (const auto& [name, of] : prefixes) {
    names.push_back(name);
    if (name != prefix) {
      continue;
    }
    if (glob.empty()) {
      throw usage_error(fmt::format("{} '{}': a glob belongs behind the colon, such as {}:*",
                                    origin, text, name));
    }
    if (of == kind::dtype && glob.find_first_of("*?[") == std::string::npos) {
      glob = parse_dtype(origin + " '" + text + "'", glob);
    }
    return {of, std::move(glob), text};
  }
  const std::string near = did_you_mean(prefix, names);
  throw usage_error(
      fmt::format("{} '{}': there is no kind '{}'{}", origin, text, prefix,
                  near.empty() ? "; it is one of plugin, vendor, accelerator, dtype" : near));
}

plugin_identity identity_of(const nlohmann::json& plugin) {
  return {text_of(plugin, "id"), text_of(plugin, "vendor"), text_of(plugin, "accelerator"), false};
}

bool matches(const selector& one, const plugin_identity& plugin) {
  switch (one.of) {
    case kind::plugin:
      return glob_match(one.glob, plugin.id);
    case kind::vendor:
      return glob_match(one.glob, plugin.vendor);
    case kind::accelerator:
      return glob_match(one.glob, plugin.accelerator);
    case kind::check:
    case kind::dtype:
      break;
  }
  return false;
}

bool matches(const selector& one, const plugin_identity& plugin, const checked_dtype& check) {
  switch (one.of) {
    case kind::check:
      return selects(one.glob, check.category, check.name, check.dtype);
    case kind::dtype:
      return glob_match(one.glob, check.dtype);
    case kind::plugin:
    case kind::vendor:
    case kind::accelerator:
      break;
  }
  return matches(one, plugin);
}

selection::selection(const run_options& options)
    : enable_(read_list(options, "enable", options.enable)),
      disable_(read_list(options, "disable", options.disable)) {}

ruling selection::plugin(const plugin_identity& plugin) const {
  for (const selector& one : disable_.globs) {
    if (matches(one, plugin)) {
      return {false, line_of(disable_, one), true};
    }
  }
  for (const selector& one : enable_.globs) {
    if (matches(one, plugin)) {
      return {true, line_of(enable_, one), false};
    }
  }
  const bool only_about_plugins =
      !enable_.empty() && std::all_of(enable_.globs.begin(), enable_.globs.end(),
                                      [](const selector& one) { return one.about_plugins(); });
  if (only_about_plugins && !plugin.only_diagnostics) {
    return {false, enable_.origin + " names others", false};
  }
  return {};
}

ruling selection::check(const plugin_identity& plugin, const checked_dtype& check) const {
  for (const selector& one : disable_.globs) {
    if (matches(one, plugin, check)) {
      return {false, line_of(disable_, one), true};
    }
  }
  for (const selector& one : enable_.globs) {
    if (matches(one, plugin, check)) {
      return {true, line_of(enable_, one), false};
    }
  }
  return enable_.empty() ? ruling{} : ruling{false, enable_.origin + " names others", false};
}

bool selection::shows_helper(const plugin_identity& plugin, const std::string& id) const {
  const auto means = [&](const selector& one) {
    return one.of == kind::check ? glob_match(one.glob, id) : matches(one, plugin);
  };
  const auto any = [&](const list& from) {
    return std::any_of(from.globs.begin(), from.globs.end(), means);
  };
  return (enable_.empty() || any(enable_)) && !any(disable_);
}

bool selection::names_dtype(const plugin_identity& plugin, const checked_dtype& check,
                            const std::vector<std::string>& known) const {
  return std::any_of(enable_.globs.begin(), enable_.globs.end(), [&](const selector& one) {
    return matches(one, plugin, check) &&
           !std::all_of(known.begin(), known.end(), [&](const std::string& other) {
             return matches(one, plugin, {check.category, check.name, other});
           });
  });
}

bool selection::about_plugins() const {
  const auto any = [](const list& from) {
    return std::any_of(from.globs.begin(), from.globs.end(),
                       [](const selector& one) { return one.about_plugins(); });
  };
  return any(enable_) || any(disable_);
}

}  // namespace assay
