// SPDX-License-Identifier: Apache-2.0
#include "show_toml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>

#include "collected_run.hpp"
#include "errors.hpp"
#include "plan_text.hpp"

namespace assay {

namespace {

using nlohmann::json;

constexpr const char* own_dtype = "dtype_under_test";

std::string basic_string(const std::string& text) {
  // JSON's escapes are TOML's too; what JSON leaves alone and TOML does not is DEL.
  std::string out;
  for (const char c : json(text).dump(-1, ' ', false, json::error_handler_t::replace)) {
    out += c == '\x7F' ? "\\u007F" : std::string(1, c);
  }
  return out;
}

/// A call has many double quotes in it, so that single ones read better around it.
std::string literal_string(const std::string& text) {
  const bool plain = std::none_of(text.begin(), text.end(), [](char c) {
    return c == '\'' || static_cast<unsigned char>(c) < 0x20 || c == '\x7F';
  });
  return plain ? "'" + text + "'" : basic_string(text);
}

std::string number_text(const json& number) {
  constexpr double largest_whole = 9007199254740992.0;  // 2^53
  if (number.is_number_float()) {
    const auto v = number.get<double>();
    if (v == std::floor(v) && std::fabs(v) < largest_whole) {
      return std::to_string(static_cast<std::int64_t>(v));
    }
  }
  return number_as_text(number);
}

std::string list_text(const json& numbers) {
  std::vector<std::string> items;
  for (const json& one : numbers) {
    items.push_back(number_text(one));
  }
  return fmt::format("[{}]", fmt::join(items, ", "));
}

std::string texts_text(const std::vector<std::string>& texts) {
  std::vector<std::string> items;
  for (const std::string& one : texts) {
    items.push_back(basic_string(one));
  }
  return fmt::format("[{}]", fmt::join(items, ", "));
}

/// The members of an inline table, in order.
class inline_table {
 public:
  void add(const std::string& key, const std::string& text) {
    members_.push_back(fmt::format("{} = {}", key, text));
  }
  void add_if_not(const json& from, const char* member, const json& usual) {
    const json& value = member_of(from, member);
    if (!value.is_null() && value != usual) {
      add(member, value.is_boolean()  ? (value.get<bool>() ? "true" : "false")
                  : value.is_string() ? basic_string(value.get<std::string>())
                                      : number_text(value));
    }
  }
  [[nodiscard]] bool empty() const { return members_.empty(); }
  [[nodiscard]] std::string text() const {
    return members_.empty() ? "{}" : fmt::format("{{ {} }}", fmt::join(members_, ", "));
  }

 private:
  std::vector<std::string> members_;
};

std::string input_text(const json& input) {
  const std::string fill = text_of(input, "fill");
  inline_table out;
  out.add("shape", list_text(list_of(input, "sizes")));
  if (member_of(input, "strides").is_array()) {
    out.add("strides", list_text(list_of(input, "strides")));
  }
  const std::string dtype =
      member_of(input, "dtype").is_string() ? text_of(input, "dtype") : own_dtype;
  const std::string usual = fill == "index" || fill == "distinct" ? "int64"
                            : fill == "mask"                      ? "bool"
                                                                  : own_dtype;
  if (dtype != usual) {
    out.add("dtype", basic_string(dtype));
  }
  if (fill != "normal") {
    out.add("fill", basic_string(fill));
  }
  if (fill == "mask") {
    out.add("share", number_text(member_of(input, "low")));
  } else if (fill != "normal") {
    out.add("range", fmt::format("[{}, {}]", number_text(member_of(input, "low")),
                                 number_text(member_of(input, "high"))));
  }
  return out.text();
}

std::string needs_text(const json& needs) {
  inline_table out;
  for (const char* key : {"accelerator", "architectures", "torch_at_least", "torch_below"}) {
    out.add_if_not(needs, key, nullptr);
  }
  out.add_if_not(needs, "free_memory_bytes", 0);
  out.add_if_not(needs, "dtype_arithmetic", false);
  return out.text();
}

std::string lines_text(const char* key, const std::vector<std::string>& items) {
  std::string out = fmt::format("{} = [\n", key);
  for (const std::string& item : items) {
    out += fmt::format("  {},\n", item);
  }
  return out + "]\n";
}

std::string calls_text(const char* key, const json& plan) {
  std::vector<std::string> calls;
  for (const json& call : plan) {
    calls.push_back(literal_string(call_as_text(call, calls.size(), own_dtype)));
  }
  return lines_text(key, calls);
}

/// What a check and its large form both have.
std::string form_text(const json& form) {
  std::vector<std::string> inputs;
  for (const json& input : list_of(form, "inputs")) {
    inputs.push_back(input_text(input));
  }
  std::string out = inputs.empty() ? "" : lines_text("inputs", inputs);
  out += calls_text("calls", list_of(form, "plan"));
  if (member_of(form, "reference").is_array()) {
    out += calls_text("reference", list_of(form, "reference"));
  }
  if (const json& cost = member_of(form, "cost"); cost.is_object()) {
    inline_table table;
    table.add_if_not(cost, "elements", 0.0);
    table.add_if_not(cost, "bytes", 0.0);
    const bool matrix = flag_is(cost, "matrix", true);
    if (matrix || number_of(cost, "flops") != 0.0) {
      table.add(matrix ? "matrix_flops" : "flops", number_text(member_of(cost, "flops")));
    }
    out += fmt::format("cost = {}\n", table.text());
  }
  if (const json& accuracy = member_of(form, "accuracy"); accuracy.is_object()) {
    inline_table table;
    table.add_if_not(accuracy, "exact", false);
    table.add_if_not(accuracy, "contraction", false);
    table.add_if_not(accuracy, "incomparable", false);
    table.add_if_not(accuracy, "roundings", 16.0);
    table.add_if_not(accuracy, "terms", 1.0);
    if (!member_of(accuracy, "picks_input").is_null()) {
      table.add("picks_input", number_text(member_of(accuracy, "picks_input")));
      table.add("picks_dimension", number_text(member_of(accuracy, "picks_dimension")));
    }
    out += table.empty() ? "" : fmt::format("accuracy = {}\n", table.text());
  }
  return out;
}

std::string check_text(const json& check) {
  std::string out = fmt::format("\n[[check]]\nname = {}\n", basic_string(text_of(check, "check")));
  if (const std::string summary = text_of(check, "summary"); !summary.empty()) {
    out += fmt::format("summary = {}\n", basic_string(summary));
  }
  out +=
      fmt::format("dtypes = {}\n", texts_text(check.value("dtypes", std::vector<std::string>{})));
  if (const double weight = number_of(check, "weight"); weight > 0.0) {
    out += fmt::format("weight = {}\n", number_text(member_of(check, "weight")));
  }
  out += form_text(check);
  std::vector<std::string> paths;
  for (const json& path : list_of(check, "paths")) {
    inline_table table;
    table.add("name", basic_string(text_of(path, "name")));
    table.add("grade", basic_string(text_of(path, "grade")));
    table.add(text_of(path, "source"), basic_string(text_of(path, "pattern")));
    paths.push_back(table.text());
  }
  if (!paths.empty()) {
    out += lines_text("paths", paths);
  }
  if (const json& needs = member_of(check, "needs"); needs.is_object()) {
    out += fmt::format("needs = {}\n", needs_text(needs));
  }
  if (const json& large = member_of(check, "large"); large.is_object()) {
    out += "\n[check.large_form]\n" + form_text(large);
  }
  return out;
}

std::vector<const json*> plugins_of(const std::vector<const json*>& checks,
                                    const std::vector<json>& plugins) {
  std::set<std::string> ids;
  for (const json* check : checks) {
    ids.insert(text_of(*check, "plugin"));
  }
  std::vector<const json*> found;
  for (const json& plugin : plugins) {
    if (text_of(plugin, "status") == "loaded" && ids.contains(text_of(plugin, "id"))) {
      found.push_back(&plugin);
    }
  }
  return found;
}

/// "# a, b,\n# c.\n": a list broken into lines.
std::string comment_lines(const std::vector<std::string>& names) {
  constexpr std::size_t width = 90;
  std::string out;
  std::string line = "#";
  for (const std::string& name : names) {
    const std::string item = name + (&name == &names.back() ? "." : ",");
    if (line.size() + 1 + item.size() > width && line.size() > 1) {
      out += line + "\n";
      line = "#";
    }
    line += " " + item;
  }
  return out + line + "\n";
}

std::string head_text(const std::vector<const json*>& owners) {
  const auto text_or = [](const json& from, const char* member) {
    const std::string text = text_of(from, member);
    return basic_string(text.empty() ? "unknown" : text);
  };
  std::vector<std::string> names;
  std::vector<std::string> libraries;
  for (const json* owner : owners) {
    names.push_back(
        printable(fmt::format("{} {}", text_of(*owner, "id"), text_of(*owner, "version"))));
    for (const json& library : list_of(*owner, "operator_libraries")) {
      const auto path = library.get<std::string>();
      if (std::find(libraries.begin(), libraries.end(), path) == libraries.end()) {
        libraries.push_back(path);
      }
    }
    for (const char* member : {"accelerator", "needs"}) {
      if (member_of(*owner, member) != member_of(*owners.front(), member)) {
        throw usage_error(fmt::format(
            "the plugins {} and {} require different things ({}), so that their checks do not go "
            "into one file; print them one after the other",
            text_of(*owners.front(), "id"), text_of(*owner, "id"), member));
      }
    }
  }
  const json first = owners.empty() ? json::object() : *owners.front();
  const bool one = owners.size() == 1;
  std::string out = fmt::format(
      "# Printed by assay show --toml: checks of\n{}"
      "# As NAME.assay.toml in a plugin folder this is an op pack (writing-a-toml-pack.md among\n"
      "# assay's documents). Beside what it was printed from, the pack and its checks need names\n"
      "# of their own.\n\n[pack]\nformat = 1\n",
      comment_lines(names));
  out += fmt::format(
      "id = {}\nversion = {}\nvendor = {}\n", one ? text_or(first, "id") : basic_string("shown"),
      one ? text_or(first, "version") : basic_string("1.0"), text_or(first, "vendor"));
  if (const std::string accelerator = text_of(first, "accelerator");
      !accelerator.empty() && accelerator != "any") {
    out += fmt::format("accelerator = {}\n", basic_string(accelerator));
  }
  if (!libraries.empty()) {
    out += fmt::format("load_library = {}\n", texts_text(libraries));
  }
  std::vector<std::string> needs;
  for (const json& each : list_of(first, "needs")) {
    needs.push_back(needs_text(each));
  }
  if (!needs.empty()) {
    out +=
        needs.size() == 1 ? fmt::format("needs = {}\n", needs.front()) : lines_text("needs", needs);
  }
  return out;
}

std::string categories_text(const std::vector<const json*>& checks,
                            const std::vector<const json*>& owners) {
  std::string out;
  std::set<std::string> printed;
  for (const json* check : checks) {
    const std::string name = text_of(*check, "category");
    if (!printed.insert(name).second) {
      continue;
    }
    std::string summary;
    for (const json* owner : owners) {
      for (const json& known : list_of(*owner, "categories")) {
        if (summary.empty() && text_of(known, "name") == name) {
          summary = text_of(known, "summary");
        }
      }
    }
    out += fmt::format("\n[[category]]\nname = {}\n", basic_string(name));
    out += summary.empty() ? "" : fmt::format("summary = {}\n", basic_string(summary));
  }
  return out;
}

}  // namespace

std::string show_toml(const std::vector<const json*>& checks, const std::vector<json>& plugins) {
  const std::vector<const json*> owners = plugins_of(checks, plugins);
  std::string out = head_text(owners) + categories_text(checks, owners);
  for (const json* check : checks) {
    out += check_text(*check);
  }
  return out;
}

}  // namespace assay
