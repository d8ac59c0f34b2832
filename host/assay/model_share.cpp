// SPDX-License-Identifier: Apache-2.0
#include "model_share.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "verdict.hpp"

namespace assay {

namespace {

using nlohmann::json;
using entry = collected_run::entry;

struct call_time {
  double us = 0.0;
  std::string basis;  // "device", "span" or "wall"
};

// Of the device alone where that is known; an event pair's upper bound is said to be one.
std::optional<call_time> time_of(const entry& e) {
  const json& timing = member_of(e.result, "timing");
  if (text_of(e.result, "status") != "ok" || !timing.is_object()) {
    return std::nullopt;
  }
  if (e.device != "cpu") {
    if (const auto us = device_time_us(e.result, member_of(e.evidence, "evidence"))) {
      return call_time{*us, "device"};
    }
    if (const auto us = number_if_any(timing, "device_us")) {
      return call_time{*us, "span"};
    }
  }
  const auto wall = number_if_any(timing, "wall_us");
  return wall ? std::optional(call_time{*wall, "wall"}) : std::nullopt;
}

bool ran_ok(const entry& e) {
  return text_of(e.result, "status") == "ok" && !flag_is(e.result, "on_device", false) &&
         !has_failed(e);
}

/// All calls of one operator.
struct row {
  std::uint64_t calls = 0, timed_calls = 0, ok_calls = 0;
  int checks = 0;
  double total_us = 0.0;
  std::set<std::string> bases;
};

json to_json(const std::string& op, const row& r, double total_us) {
  return {{"op", op},
          {"calls", r.calls},
          {"checks", r.checks},
          {"timed_calls", r.timed_calls},
          {"ok_calls", r.ok_calls},
          {"us_per_call",
           r.timed_calls > 0 ? json(r.total_us / static_cast<double>(r.timed_calls)) : json()},
          {"total_us", r.timed_calls > 0 ? json(r.total_us) : json()},
          {"share", r.timed_calls > 0 && total_us > 0.0 ? json(r.total_us / total_us) : json()},
          {"basis", r.bases}};
}

json share_on(const json& trace, const std::map<std::string, const entry*>& of_check) {
  std::map<std::string, row> rows;
  json guessed = json::array();
  double total_us = 0.0;
  row all;
  for (const json& check : list_of(trace, "checks")) {
    const std::string name = text_of(check, "check");
    row& mine = rows[text_of(check, "op")];
    const auto calls = check.value("calls", std::uint64_t{0});
    const auto found = of_check.find(name);
    const entry* e = found == of_check.end() ? nullptr : found->second;
    const auto time = e == nullptr ? std::nullopt : time_of(*e);
    for (row* r : {&mine, &all}) {
      r->calls += calls;
      ++r->checks;
      r->ok_calls += e != nullptr && ran_ok(*e) ? calls : 0;
      r->timed_calls += time ? calls : 0;
    }
    if (time && calls > 0) {
      const double us = time->us * static_cast<double>(calls);
      mine.total_us += us;
      total_us += us;
      mine.bases.insert(time->basis);
    }
    if (!list_of(check, "guessed").empty()) {
      guessed.push_back({{"check", name}, {"inputs", check.at("guessed")}});
    }
  }
  json operators = json::array();
  for (const auto& [op, r] : rows) {
    operators.push_back(to_json(op, r, total_us));
  }
  std::stable_sort(operators.begin(), operators.end(), [](const json& a, const json& b) {
    return number_of(a, "total_us") > number_of(b, "total_us");
  });
  return {{"record", "model"},
          {"file", trace.at("file")},
          {"plugin", trace.at("plugin")},
          {"entries", trace.at("entries")},
          {"calls", trace.at("calls")},
          {"checks", all.checks},
          {"timed_calls", all.timed_calls},
          {"ok_calls", all.ok_calls},
          {"total_us", all.timed_calls > 0 ? json(total_us) : json()},
          {"operators", std::move(operators)},
          {"skipped", trace.at("skipped")},
          {"guessed", std::move(guessed)}};
}

}  // namespace

std::vector<json> share_of_model(const std::vector<json>& traces,
                                 const std::vector<entry>& entries) {
  std::vector<json> records;
  for (const json& trace : traces) {
    std::set<std::string> names;
    for (const json& check : list_of(trace, "checks")) {
      names.insert(text_of(check, "check"));
    }
    // By device, then by dtype; `twice`: a check ran in several.
    std::vector<std::string> devices;
    std::map<std::string, std::map<std::string, std::map<std::string, const entry*>>> ran;
    std::set<std::pair<std::string, std::string>> seen;
    bool twice = false;
    for (const entry& e : entries) {
      const auto bracket = e.id.find('[');
      const std::string name = e.id.substr(0, bracket);
      if (e.baseline || e.result.is_null() || !names.contains(name)) {
        continue;
      }
      if (!ran.contains(e.device)) {
        devices.push_back(e.device);
      }
      ran[e.device][e.id.substr(bracket)][name] = &e;
      twice = !seen.emplace(e.device, name).second || twice;
    }
    for (const std::string& device : devices) {
      if (!twice) {
        std::map<std::string, const entry*> together;
        for (const auto& [dtype, checks] : ran[device]) {
          together.insert(checks.begin(), checks.end());
        }
        records.push_back(share_on(trace, together));
        records.back().update(json{{"device", device}, {"dtype", nullptr}});
        continue;
      }
      for (const auto& [dtype, checks] : ran[device]) {
        records.push_back(share_on(trace, checks));
        records.back().update(
            json{{"device", device}, {"dtype", dtype.substr(1, dtype.size() - 2)}});
      }
    }
  }
  return records;
}

}  // namespace assay
