// SPDX-License-Identifier: Apache-2.0
#include "compare_environment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "fingerprint.hpp"
#include "rank_test.hpp"

namespace assay {

namespace {

constexpr double ceiling_tolerance = 0.1;

/// "2.10.0 | 2.11.0" where the runs of a side differ.
std::map<std::string, std::string> environment_of(const std::vector<saved_run>& runs,
                                                  std::vector<std::string>& order) {
  std::map<std::string, std::vector<std::string>> values;
  for (const saved_run& run : runs) {
    for (const auto& [name, value] : run.environment) {
      auto& known = values[name];
      if (std::find(known.begin(), known.end(), value) == known.end()) {
        known.push_back(value);
      }
      if (std::find(order.begin(), order.end(), name) == order.end()) {
        order.push_back(name);
      }
    }
  }
  std::map<std::string, std::string> joined;
  for (const auto& [name, known] : values) {
    joined[name] = fmt::format("{}", fmt::join(known, " | "));
  }
  return joined;
}

std::set<std::string> recorded_in(const std::vector<saved_run>& runs) {
  std::set<std::string> names;
  for (const saved_run& run : runs) {
    names.insert(run.recorded.begin(), run.recorded.end());
  }
  return names;
}

/// Median over the runs that have it, by name.
std::map<std::string, double> ceilings_of(const std::vector<saved_run>& runs) {
  std::map<std::string, std::vector<double>> all;
  for (const saved_run& run : runs) {
    for (const auto& [name, number] : run.ceilings) {
      all[name].push_back(number);
    }
  }
  std::map<std::string, double> medians;
  for (const auto& [name, numbers] : all) {
    medians[name] = median_of(numbers);
  }
  return medians;
}

class environments {
 public:
  environments(const std::vector<saved_run>& before, const std::vector<saved_run>& after)
      : before_(before), after_(after) {}

  std::vector<environment_change> compare() {
    compare_values();
    compare_ceilings();
    const auto rank = [](const environment_change& change) {
      return std::find(environment_groups.begin(), environment_groups.end(), change.group);
    };
    std::stable_sort(found_.begin(), found_.end(),
                     [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
    return std::move(found_);
  }

 private:
  void add(const std::string& name, std::string was, std::string is) {
    found_.push_back({name, std::move(was), std::move(is), environment_group_of(name)});
  }

  void compare_values() {
    std::vector<std::string> order;
    const auto old = environment_of(before_, order);
    const auto now = environment_of(after_, order);
    const std::set<std::string> recorded_old = recorded_in(before_);
    const std::set<std::string> recorded_now = recorded_in(after_);
    const bool one_sided = recorded_old.empty() != recorded_now.empty();
    const auto value = [](const auto& of, const std::string& name) {
      const auto found = of.find(name);
      if (found != of.end()) {
        return found->second;
      }
      return std::string(name.starts_with("variable ") ? "not set" : "");
    };
    for (const std::string& name : order) {
      // What only one side's assay wrote down at all is no difference.
      const bool of_record = recorded_old.contains(name) || recorded_now.contains(name);
      if (value(old, name) != value(now, name) && !(of_record && one_sided)) {
        add(name, value(old, name), value(now, name));
      }
    }
    if (one_sided) {
      const auto said = [](bool not_there) { return not_there ? "not recorded" : "recorded"; };
      add("environment record", said(recorded_old.empty()), said(recorded_now.empty()));
    }
  }

  // Measurements differ from run to run; what moved by more is another machine, or another state.
  void compare_ceilings() {
    const auto now = ceilings_of(after_);
    for (const auto& [name, was] : ceilings_of(before_)) {
      const auto found = now.find(name);
      if (found == now.end()) {
        continue;
      }
      const double is = found->second;
      if (std::max(was, is) > std::min(was, is) * (1.0 + ceiling_tolerance)) {
        add(name, fmt::format("{:.4g}", was),
            fmt::format("{:.4g} ({:+.0f} %)", is, (is / was - 1.0) * 100.0));
      }
    }
  }

  const std::vector<saved_run>& before_;
  const std::vector<saved_run>& after_;
  std::vector<environment_change> found_;
};

}  // namespace

std::vector<environment_change> compare_environments(const std::vector<saved_run>& before,
                                                     const std::vector<saved_run>& after) {
  return environments(before, after).compare();
}

}  // namespace assay
