// SPDX-License-Identifier: Apache-2.0
#include "show_command.hpp"

#include <fmt/format.h>

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

}  // namespace

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
