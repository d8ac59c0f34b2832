// SPDX-License-Identifier: Apache-2.0
#include "plugin_options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>

#include "host/common/nearest.hpp"

namespace assay::worker {

namespace {

using nlohmann::json;

constexpr std::array<const char*, 4> kind_names{"text", "boolean", "integer", "real"};

template <typename Number>
std::optional<Number> whole_number(const std::string& text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  return read.ec == std::errc() && read.ptr == end ? std::optional(value) : std::nullopt;
}

std::optional<bool> truth(const std::string& text) {
  if (text == "true" || text == "yes" || text == "1") {
    return true;
  }
  if (text == "false" || text == "no" || text == "0") {
    return false;
  }
  return std::nullopt;
}

// One option while it is declared.
class option_in_force {
 public:
  option_in_force(const assay_option& option, std::string plugin)
      : option_(option), name_(text_or_empty(option.name)), plugin_(std::move(plugin)) {
    const std::string what = "option '" + name_ + "'";
    if (!is_name(name_, false)) {
      throw refused(what + ": a name takes a-z, 0-9 and _ only");
    }
    if (option.kind < 0 || static_cast<std::size_t>(option.kind) >= kind_names.size()) {
      throw refused(what + ": its kind " + std::to_string(option.kind) +
                    " is unknown to this host; use a newer assay");
    }
    if (!std::isfinite(option.low) || !std::isfinite(option.high) || option.low > option.high) {
      throw refused(what + ": its bounds are none, low must not be above high");
    }
    choices_ = comma_separated(text_or_empty(option.choices));
    value_ = {sizeof value_, option.default_text, option.default_integer, option.default_real};
    if (option.kind == ASSAY_OPTION_TEXT) {
      text_ = text_or_empty(option.default_text);
      if (!may_be_chosen()) {
        throw refused(what + ": its default '" + text_ + "' is none of its choices");
      }
    } else if (!within(number())) {
      throw refused(what + ": its default lies outside its bounds");
    }
  }

  // The user's word for it. Throws refused.
  void take(const std::string& given) {
    const auto turn_down = [&](const std::string& takes) {
      return refused("--set " + plugin_ + "." + name_ + "=" + given + ": this option takes " +
                     takes);
    };
    if (option_.kind == ASSAY_OPTION_TEXT) {
      text_ = given;
      if (!may_be_chosen()) {
        throw turn_down("one of " + word_list(choices_) + did_you_mean(given, choices_));
      }
      return;
    }
    if (option_.kind == ASSAY_OPTION_BOOLEAN) {
      const auto read = truth(given);
      if (!read) {
        throw turn_down("true or false");
      }
      value_.integer = *read ? 1 : 0;
      return;
    }
    const auto integer = whole_number<std::int64_t>(given);
    const auto real = whole_number<double>(given);
    const bool is_real = option_.kind == ASSAY_OPTION_REAL;
    if (is_real ? !real || !std::isfinite(*real) : !integer) {
      throw turn_down(is_real ? "a number" + bounds_text() : "a whole number" + bounds_text());
    }
    value_.integer = integer.value_or(0);
    value_.real = real.value_or(0.0);
    if (!within(number())) {
      throw turn_down((is_real ? "a number" : "a whole number") + bounds_text());
    }
  }

  [[nodiscard]] json describe() const {
    return {{"name", name_},
            {"kind", kind_names.at(static_cast<std::size_t>(option_.kind))},
            {"summary", text_or_empty(option_.summary)},
            {"low", bounded() ? bound(option_.low) : json()},
            {"high", bounded() ? bound(option_.high) : json()},
            {"choices", choices_}};
  }

  [[nodiscard]] json value_as_json() const {
    switch (option_.kind) {
      case ASSAY_OPTION_TEXT:
        return text_;
      case ASSAY_OPTION_BOOLEAN:
        return value_.integer != 0;
      case ASSAY_OPTION_INTEGER:
        return value_.integer;
      default:
        return value_.real;
    }
  }

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const assay_option_value& value() const { return value_; }

 private:
  [[nodiscard]] bool bounded() const { return option_.low < option_.high; }
  [[nodiscard]] double number() const {
    return option_.kind == ASSAY_OPTION_REAL ? value_.real : static_cast<double>(value_.integer);
  }
  [[nodiscard]] bool within(double number) const {
    return !bounded() || (number >= option_.low && number <= option_.high);
  }
  [[nodiscard]] bool may_be_chosen() const {
    return choices_.empty() || std::find(choices_.begin(), choices_.end(), text_) != choices_.end();
  }
  // The ABI has both bounds as reals; those of a whole number are shown as whole numbers.
  [[nodiscard]] json bound(double value) const {
    constexpr double largest_exact = 9007199254740992.0;  // 2^53
    const bool whole = option_.kind == ASSAY_OPTION_INTEGER && std::floor(value) == value &&
                       std::fabs(value) <= largest_exact;
    return whole ? json(static_cast<std::int64_t>(value)) : json(value);
  }
  [[nodiscard]] std::string bounds_text() const {
    return bounded()
               ? " between " + bound(option_.low).dump() + " and " + bound(option_.high).dump()
               : "";
  }

  const assay_option& option_;
  std::string name_, plugin_, text_;
  std::vector<std::string> choices_;
  assay_option_value value_{};
};

}  // namespace

void declare_option(registrations& plugin, const assay_option* declared,
                    assay_option_value* value) {
  const assay_option option = read_struct(declared, "assay_option");
  if (value == nullptr || value->struct_size < sizeof(assay_option_value)) {
    throw refused("option '" + text_or_empty(option.name) + "': it has no place for its value");
  }
  option_in_force known(option, plugin.id);
  for (const json& other : plugin.options) {
    if (other.at("name") == known.name()) {
      throw refused("option '" + known.name() + "' is declared twice");
    }
  }
  json record = known.describe();
  record["default"] = known.value_as_json();
  const auto given = plugin.given_options.find(known.name());
  if (given != plugin.given_options.end()) {
    try {
      known.take(given->second);
    } catch (const refused& fault) {
      plugin.option_fault = fault.what();  // a plugin that goes on all the same is turned down
      throw;
    }
  }
  record["value"] = known.value_as_json();
  plugin.options.push_back(std::move(record));
  value->integer = known.value().integer;
  value->real = known.value().real;
  value->text = nullptr;
  if (option.kind == ASSAY_OPTION_TEXT) {
    value->text = plugin.option_texts.emplace_back(known.text()).c_str();
  }
}

}  // namespace assay::worker
