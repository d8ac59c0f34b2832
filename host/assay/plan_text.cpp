// SPDX-License-Identifier: Apache-2.0
#include "plan_text.hpp"

#include <fmt/format.h>

#include <vector>

#include "collected_run.hpp"

namespace assay {

namespace {

using nlohmann::json;

std::string value_as_text(const json& argument, const std::string& own_dtype) {
  const std::string kind = text_of(argument, "kind");
  const json& v = member_of(argument, "value");
  if (kind == "none") {
    return "None";
  }
  if (kind == "device") {
    return "device_under_test";
  }
  if (kind == "input") {
    return fmt::format("in{}", v.dump());
  }
  if (kind == "result") {
    const auto item = static_cast<int>(number_of(argument, "item"));
    return item == 0 ? fmt::format("r{}", v.dump()) : fmt::format("r{}[{}]", v.dump(), item);
  }
  if (kind == "bool") {
    return v == json(true) || v == json(1) ? "True" : "False";
  }
  if (kind == "dtype") {
    return v.is_string() ? v.get<std::string>() : own_dtype;
  }
  if (kind == "string") {
    return v.dump(-1, ' ', false, json::error_handler_t::replace);
  }
  if (!v.is_array()) {
    return number_as_text(v);
  }
  if (v.empty()) {  // nothing in it tells what it is a list of
    return kind == "float_list"  ? "float[]"
           : kind == "bool_list" ? "bool[]"
           : kind == "list"      ? "Tensor[]"
                                 : "[]";
  }
  std::vector<std::string> items;
  for (const json& item : v) {
    items.push_back(kind == "list"        ? value_as_text(item, own_dtype)
                    : kind == "bool_list" ? (item == json(true) ? "True" : "False")
                                          : number_as_text(item));
  }
  return fmt::format("[{}]", fmt::join(items, ", "));
}

}  // namespace

std::string number_as_text(const json& number) {
  return number.is_string() ? number.get<std::string>() : number.is_null() ? "nan" : number.dump();
}

std::string call_as_text(const json& call, std::size_t position, const std::string& own_dtype) {
  std::vector<std::string> arguments;
  for (const json& argument : list_of(call, "arguments")) {
    const std::string name = text_of(argument, "argument");
    arguments.push_back((name.empty() ? "" : name + "=") + value_as_text(argument, own_dtype));
  }
  return fmt::format("r{} = {}({})", position, text_of(call, "op"), fmt::join(arguments, ", "));
}

}  // namespace assay
