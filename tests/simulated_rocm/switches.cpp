// SPDX-License-Identifier: Apache-2.0
#include "switches.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace assay_simulated {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\n\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\n\r") - first + 1);
}

int64_t integer(std::string_view text, std::string_view& rest) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) {
    throw std::invalid_argument("not a number: '" + std::string(text) + "'");
  }
  rest = text.substr(static_cast<size_t>(end - text.data()));
  return number;
}

int64_t nanoseconds(std::string_view text) {
  std::string_view unit;
  const int64_t number = integer(text, unit);
  if (unit == "ns") return number;
  if (unit == "us") return number * 1'000;
  if (unit == "ms") return number * 1'000'000;
  if (unit == "s") return number * 1'000'000'000;
  throw std::invalid_argument("a time ends in ns, us, ms or s: '" + std::string(text) + "'");
}

const std::map<std::string_view, bool Faults::*>& flags() {
  static const std::map<std::string_view, bool Faults::*> table = {
      {"missing", &Faults::missing},
      {"cpu_fallback", &Faults::cpu_fallback},
      {"cpu_output", &Faults::cpu_output},
      {"wrong", &Faults::wrong},
      {"nan", &Faults::nan},
      {"hang", &Faults::hang},
      {"crash", &Faults::crash},
      {"poison", &Faults::poison},
      {"miopen_fail", &Faults::miopen_fail},
      {"oom", &Faults::oom},
      {"round_trip", &Faults::round_trip},
      {"slow_path", &Faults::slow_path},
      {"sync", &Faults::sync},
      {"no_kernel", &Faults::no_kernel},
      {"async_error", &Faults::async_error},
      {"zeros", &Faults::zeros},
      {"constant", &Faults::constant},
      {"one_wrong", &Faults::one_wrong},
      {"unrepeatable", &Faults::unrepeatable},
      {"overrun", &Faults::overrun}};
  return table;
}

const std::map<std::string_view, int64_t Faults::*>& times() {
  static const std::map<std::string_view, int64_t Faults::*> table = {
      {"slow", &Faults::slow_ns},
      {"slow_submit", &Faults::slow_submit_ns},
      {"kernel", &Faults::kernel_ns}};
  return table;
}

std::string operator_name(std::string_view text) {
  if (text.empty()) throw std::invalid_argument("an operator's name is missing");
  return text.find("::") == std::string_view::npos ? "aten::" + std::string(text)
                                                   : std::string(text);
}

void merge(Faults& into, const Faults& from) {
  for (const auto& [key, member] : flags()) into.*member |= from.*member;
  for (const auto& [key, member] : times()) {
    if (from.*member != Faults().*member) into.*member = from.*member;
  }
}

std::string control_text() {
  const char* variable = std::getenv("SIMULATED_ROCM");
  const std::string text = variable ? variable : "";
  if (!text.starts_with('@')) return text;
  std::ifstream file(text.substr(1));
  if (!file) throw std::invalid_argument("cannot read '" + text.substr(1) + "'");
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

Switches::Switches(std::string_view text) {
  while (!text.empty()) {
    const auto end = text.find_first_of(";\n");
    const auto item = trimmed(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (item.empty()) continue;
    const auto equals = item.find('=');
    if (equals == std::string_view::npos) {
      throw std::invalid_argument("expected key=value, got '" + std::string(item) + "'");
    }
    read(trimmed(item.substr(0, equals)), trimmed(item.substr(equals + 1)));
  }
}

void Switches::read(std::string_view key, std::string_view value) {
  if (const auto flag = flags().find(key); flag != flags().end()) {
    while (true) {
      const auto comma = value.find(',');
      faults_[operator_name(trimmed(value.substr(0, comma)))].*(flag->second) = true;
      if (comma == std::string_view::npos) return;
      value.remove_prefix(comma + 1);
    }
  }
  if (const auto time = times().find(key); time != times().end()) {
    const auto colon = value.rfind(':');
    if (colon == std::string_view::npos || colon == 0 || value[colon - 1] == ':') {
      throw std::invalid_argument("expected operator:time, got '" + std::string(value) + "'");
    }
    faults_[operator_name(value.substr(0, colon))].*(time->second) =
        nanoseconds(value.substr(colon + 1));
  } else if (key == "devices") {
    std::string_view rest;
    const int64_t count = integer(value, rest);
    if (!rest.empty() || count > 16) throw std::invalid_argument("devices: 0 to 16");
    devices_ = static_cast<int>(count);
  } else if (key == "kernel_time") {
    kernel_ns_ = nanoseconds(value);
  } else if (key == "profiler") {
    if (value != "on" && value != "off") throw std::invalid_argument("profiler: on or off");
    profiler_ = value == "on";
  } else if (key == "library_logs") {
    if (value != "on" && value != "off") throw std::invalid_argument("library_logs: on or off");
    library_logs_ = value == "on";
  } else {
    throw std::invalid_argument("no switch is called '" + std::string(key) + "'");
  }
}

Faults Switches::faults_of(const std::string& name, const std::string& overload) const {
  Faults result;
  if (faults_.empty()) return result;
  if (const auto found = faults_.find(name); found != faults_.end()) merge(result, found->second);
  if (const auto found = faults_.find(name + "." + overload); found != faults_.end()) {
    merge(result, found->second);
  }
  return result;
}

const Switches& switches() {
  static const Switches read_once = [] {
    try {
      return Switches(control_text());
    } catch (const std::invalid_argument& error) {
      std::fprintf(stderr, "simulated ROCm device: SIMULATED_ROCM: %s\n", error.what());
      std::_Exit(2);
    }
  }();
  return read_once;
}

}  // namespace assay_simulated
