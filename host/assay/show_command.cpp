// SPDX-License-Identifier: Apache-2.0
#include "show_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "collected_run.hpp"
#include "plan_text.hpp"
#include "requirements.hpp"

namespace assay {
namespace {

using nlohmann::json;

std::string joined(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string input_text(const json& input, const std::string& dtype) {
  std::vector<std::string> sizes;
  for (const json& size : list_of(input, "sizes")) {
    sizes.push_back(size.dump());
  }
  const std::string own = text_of(input, "dtype");
  const std::string fill = text_of(input, "fill");
  std::string out = fmt::format("{} [{}]", own.empty() ? dtype : own, joined(sizes));
  if (fill == "mask") {
    out += fmt::format(", true with probability {}", number_of(input, "low"));
  } else if (fill == "distinct") {
    out += fmt::format(", whole numbers in [{}, {}), different along each dimension",
                       number_of(input, "low"), number_of(input, "high"));
  } else if (fill == "normal") {
    out += ", normal: mean 0, deviation 1";
  } else {
    out += fmt::format(", {} in [{}, {})", fill == "index" ? "whole numbers" : "evenly",
                       number_of(input, "low"), number_of(input, "high"));
  }
  if (const json& strides = list_of(input, "strides"); !strides.empty()) {
    out += fmt::format(", strides {}", strides.dump());
  }
  return out;
}

/// "com.acme.ops", "acme.trace" and a file acme.assay.so may have checks of category "acme".
bool may_have(const json& plugin, const std::string& category) {
  const std::string id = text_of(plugin, "id");
  const std::string file = std::filesystem::path(text_of(plugin, "file")).filename().string();
  const std::string parts = fmt::format(".{}.{}.", id, file.substr(0, file.find('.')));
  return parts.find("." + category + ".") != std::string::npos;
}

}  // namespace

missing_check why_not_there(const std::string& check, const std::vector<json>& plugins,
                            bool only_likely) {
  const std::string category = check.substr(0, check.find('/'));
  std::vector<const json*> likely, all;
  for (const json& plugin : plugins) {
    const std::string status = text_of(plugin, "status");
    if (status == "off" || status == "refused") {
      all.push_back(&plugin);
      if (may_have(plugin, category)) {
        likely.push_back(&plugin);
      }
    }
  }
  missing_check found;
  // By the reason, which many may share.
  std::vector<std::pair<std::string, std::vector<std::string>>> names_by_reason;
  for (const json* plugin : likely.empty() && !only_likely ? all : likely) {
    const std::string status = text_of(*plugin, "status");
    const std::string id = text_of(*plugin, "id");
    found.refused = found.refused || status == "refused";
    const std::string reason = fmt::format("{} ({})", status, text_of(*plugin, "reason"));
    auto same = std::find_if(names_by_reason.begin(), names_by_reason.end(),
                             [&](const auto& known) { return known.first == reason; });
    if (same == names_by_reason.end()) {
      same = names_by_reason.insert(same, {reason, {}});
    }
    same->second.push_back(id.empty() ? text_of(*plugin, "file") : id);
  }
  constexpr std::size_t most_named = 3;
  for (const auto& [reason, names] : names_by_reason) {
    if (names.size() == 1) {
      found.text += fmt::format("; plugin {} is {}", names.front(), reason);
    } else if (names.size() <= most_named) {
      found.text += fmt::format("; plugins {} are {}", joined(names), reason);
    } else {
      found.text += fmt::format("; {} plugins are {}", names.size(), reason);
    }
  }
  found.text = printable(found.text);
  return found;
}

std::string show_check(const json& check_record, const std::string& dtype,
                       const json& plugin_record) {
  std::string out = fmt::format("{}/{}[{}]", text_of(check_record, "category"),
                                text_of(check_record, "name"), dtype);
  if (const std::string plugin = text_of(check_record, "plugin"); !plugin.empty()) {
    out += fmt::format(", of plugin {}", plugin);
  }
  if (const std::string summary = text_of(check_record, "summary"); !summary.empty()) {
    out += fmt::format("\n{}", printable(summary));
  }
  if (const std::string needs = requirements_text(requirements_of(check_record, plugin_record));
      !needs.empty()) {
    out += "\nneeds " + needs;
  }
  out += "\n\ninputs\n";
  const json& inputs = list_of(check_record, "inputs");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    out += fmt::format("  in{} = {}\n", i, input_text(inputs[i], dtype));
  }
  if (inputs.empty()) {
    out += "  none\n";
  }
  out += "\nplan\n";
  const json& plan = list_of(check_record, "plan");
  for (std::size_t i = 0; i < plan.size(); ++i) {
    out += fmt::format("  {}\n", call_as_text(plan[i], i, dtype));
  }
  std::vector<std::string> dtypes;
  for (const json& known : list_of(check_record, "dtypes")) {
    dtypes.push_back(known.is_string() ? known.get<std::string>() : known.dump());
  }
  out += fmt::format("\noutput: every tensor of r{}\ndtypes: {}\n",
                     plan.empty() ? 0 : plan.size() - 1, joined(dtypes));
  return out;
}

}  // namespace assay
