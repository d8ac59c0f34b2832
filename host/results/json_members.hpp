// SPDX-License-Identifier: Apache-2.0
//
// Members of a record that may be missing or of another type: then they count as not said.
#pragma once

#include <simdjson.h>

#include <optional>
#include <string>
#include <string_view>

namespace assay {

inline std::string text_in(simdjson::dom::object record, std::string_view name) {
  std::string_view text;
  return record[name].get(text) == simdjson::SUCCESS ? std::string(text) : "";
}

inline std::optional<double> number_in(simdjson::dom::object record, std::string_view name) {
  double number = 0.0;
  return record[name].get(number) == simdjson::SUCCESS ? std::optional(number) : std::nullopt;
}

inline bool flag_in(simdjson::dom::object record, std::string_view name) {
  bool flag = false;
  return record[name].get(flag) == simdjson::SUCCESS && flag;
}

inline std::optional<simdjson::dom::object> object_in(simdjson::dom::object record,
                                                      std::string_view name) {
  simdjson::dom::object found;
  return record[name].get(found) == simdjson::SUCCESS ? std::optional(found) : std::nullopt;
}

inline std::optional<simdjson::dom::array> list_in(simdjson::dom::object record,
                                                   std::string_view name) {
  simdjson::dom::array found;
  return record[name].get(found) == simdjson::SUCCESS ? std::optional(found) : std::nullopt;
}

}  // namespace assay
