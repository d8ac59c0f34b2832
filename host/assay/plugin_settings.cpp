// SPDX-License-Identifier: Apache-2.0
#include "plugin_settings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "collected_run.hpp"
#include "errors.hpp"
#include "host/common/nearest.hpp"

namespace assay {

namespace {

using nlohmann::json;

std::string origin_of(const run_options& options) {
  const auto setting = options.settings.find("set");
  return setting == options.settings.end() || setting->second.origin.empty()
             ? "--set"
             : setting->second.origin;
}

std::vector<std::string> texts_of(const json& list, const char* member) {
  std::vector<std::string> texts;
  for (const json& one : list) {
    texts.push_back(text_of(one, member));
  }
  return texts;
}

}  // namespace

void add_assignment(std::vector<run_options::assignment>& list, const std::string& origin,
                    const std::string& text) {
  const auto equals = text.find('=');
  const auto dot = text.rfind('.', equals);
  if (equals == std::string::npos || dot == std::string::npos || dot == 0 || dot + 1 == equals) {
    throw usage_error(fmt::format(
        "{} '{}': write PLUGIN.NAME=VALUE; assay list shows the plugins' options", origin, text));
  }
  run_options::assignment made{text.substr(0, dot), text.substr(dot + 1, equals - dot - 1),
                               text.substr(equals + 1), text};
  for (const auto& other : list) {
    if (other.plugin == made.plugin && other.name == made.name) {
      throw usage_error(fmt::format("{} gives {}.{} twice ('{}' and '{}'); give it once", origin,
                                    made.plugin, made.name, other.value, made.value));
    }
  }
  list.push_back(std::move(made));
}

json settings_for_worker(const run_options& options) {
  json all = json::object();
  for (const auto& one : options.set) {
    all[one.plugin][one.name] = one.value;
  }
  return all;
}

std::vector<std::string> check_settings(const std::vector<json>& plugins,
                                        const run_options& options) {
  for (const json& plugin : plugins) {
    if (const std::string fault = text_of(plugin, "option_fault"); !fault.empty()) {
      throw usage_error(fault);
    }
  }
  std::vector<std::string> lines;
  const std::string origin = origin_of(options);
  for (const auto& one : options.set) {
    const auto owner = std::find_if(plugins.begin(), plugins.end(), [&](const json& plugin) {
      return text_of(plugin, "id") == one.plugin;
    });
    if (owner == plugins.end()) {
      std::string near = did_you_mean(one.plugin, texts_of(plugins, "id"));
      throw usage_error(fmt::format("{} '{}': there is no plugin '{}'{}", origin, one.text,
                                    one.plugin,
                                    near.empty() ? "; assay list names the plugins" : near));
    }
    if (const std::string status = text_of(*owner, "status"); status != "loaded") {
      lines.push_back(fmt::format("{} '{}' has no effect: plugin {} is {} ({})", origin, one.text,
                                  one.plugin, status, printable(text_of(*owner, "reason"))));
      continue;
    }
    const auto names = texts_of(list_of(*owner, "options"), "name");
    if (std::find(names.begin(), names.end(), one.name) == names.end()) {
      const std::string near = did_you_mean(one.name, names);
      throw usage_error(fmt::format(
          "{} '{}': plugin {} has no option '{}'{}", origin, one.text, one.plugin, one.name,
          names.empty()  ? "; it has none"
          : near.empty() ? fmt::format("; it has {}", fmt::join(names, ", "))
                         : near));
    }
  }
  return lines;
}

}  // namespace assay
