// SPDX-License-Identifier: Apache-2.0
#include "compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

#include "compare_environment.hpp"
#include "rank_test.hpp"

namespace assay {

namespace {

/// One check in all runs of a side.
using occurrences = std::vector<const saved_check*>;
using side = std::map<std::string, occurrences>;

bool is_failure(const saved_check& check) {
  return check.status == "error" || check.status == "crash" || check.status == "timeout" ||
         check.verdict == "fail";
}

side gather(const std::vector<saved_run>& runs) {
  side all;
  for (const saved_run& run : runs) {
    for (const auto& [key, check] : run.checks) {
      all[key].push_back(&check);
    }
  }
  return all;
}

/// The one that speaks for a side: a failure where there is one, else the last.
const saved_check& speaker(const occurrences& of) {
  const auto failure = std::find_if(of.begin(), of.end(),
                                    [](const saved_check* check) { return is_failure(*check); });
  return failure == of.end() ? *of.back() : **failure;
}

std::string state_text(const occurrences& of) {
  const saved_check& check = speaker(of);
  std::string text = check.status;
  if (check.status == "ok" && check.verdict == "fail") {
    const auto link = std::find_if(check.links.begin(), check.links.end(),
                                   [](const auto& entry) { return entry.second.state == "fail"; });
    text = link == check.links.end() ? "fail"
                                     : fmt::format("fail, {}: {}", link->first, link->second.why);
  } else if (!check.error.empty()) {
    text += ": " + check.error;
  }
  const auto failures = static_cast<std::size_t>(
      std::count_if(of.begin(), of.end(), [](const saved_check* one) { return is_failure(*one); }));
  if (failures > 0 && failures < of.size()) {
    text += fmt::format(" (in {} of {} runs)", failures, of.size());
  }
  return text;
}

int rank_of(const std::string& state) {
  constexpr std::array<std::string_view, 4> order{"pass", "unknown", "warn", "fail"};
  return static_cast<int>(std::find(order.begin(), order.end(), state) - order.begin());
}

/// The worst state that a link had in the runs of a side.
const saved_link* worst_link(const occurrences& of, const std::string& name) {
  const saved_link* worst = nullptr;
  for (const saved_check* check : of) {
    const auto link = check->links.find(name);
    if (link != check->links.end() &&
        (worst == nullptr || rank_of(link->second.state) > rank_of(worst->state))) {
      worst = &link->second;
    }
  }
  return worst;
}

/// The standard deviation of a normal distribution over its median absolute deviation.
constexpr double deviation_of_normal = 1.4826;

/// How many standard deviations the greatest of so many that are noise will hardly reach.
double out_of_noise(const regression_rules& rules, std::size_t count) {
  const boost::math::normal standard;
  return boost::math::quantile(
      boost::math::complement(standard, rules.significance / 2.0 / static_cast<double>(count)));
}

std::string link_text(const saved_link& link) {
  return link.why.empty() ? link.state : fmt::format("{}: {}", link.state, link.why);
}

class comparing {
 public:
  comparing(const std::vector<saved_run>& before, const std::vector<saved_run>& after,
            const regression_rules& rules)
      : before_runs_(before),
        after_runs_(after),
        before_(gather(before)),
        after_(gather(after)),
        rules_(rules) {}

  comparison make() {
    found_.runs_before = before_runs_.size();
    found_.runs_after = after_runs_.size();
    take_remarks(before_runs_);
    take_remarks(after_runs_);
    found_.environment = compare_environments(before_runs_, after_runs_);
    find_unlike_devices();
    for (const auto& [key, old] : before_) {
      const auto now = after_.find(key);
      if (now == after_.end()) {
        gone(old);
      } else {
        ++found_.checks_in_both;
        compare_states(old, now->second);
        compare_links(old, now->second);
        take_times(old, now->second);
      }
    }
    for (const auto& [key, now] : after_) {
      if (before_.find(key) == before_.end()) {
        found_.appeared.push_back({now.back()->id, now.back()->device, "", state_text(now)});
      }
    }
    judge_times();
    found_.regression = is_regression(found_, rules_);
    return std::move(found_);
  }

 private:
  // A check that nobody asked for is no loss; one that no later run knows is.
  void gone(const occurrences& old) {
    const std::string& id = old.back()->id;
    const std::string name = id.substr(0, id.find('['));
    for (const saved_run& run : after_runs_) {
      if (const auto why = run.not_selected.find(name); why != run.not_selected.end()) {
        found_.not_asked_for.push_back({id, old.back()->device, state_text(old), why->second});
        return;
      }
    }
    found_.vanished.push_back({id, old.back()->device, state_text(old), ""});
  }

  struct timed {
    time_change change;
    std::vector<double> before, after;  // samples
  };

  void take_remarks(const std::vector<saved_run>& runs) {
    for (const saved_run& run : runs) {
      for (const std::string& remark : run.remarks) {
        found_.remarks.push_back(fmt::format("{}: {}", run.file.string(), remark));
      }
    }
  }

  void find_unlike_devices() {
    for (const saved_run& old : before_runs_) {
      for (const saved_run& now : after_runs_) {
        for (const auto& [device, architecture] : old.architectures) {
          const auto other = now.architectures.find(device);
          if (other == now.architectures.end() || unlike_.contains(device)) {
            continue;
          }
          const std::string a = named(old, device);
          const std::string b = named(now, device);
          if (a == b) {
            continue;
          }
          unlike_.insert(device);
          const double ratio = bandwidth_ratio(old, now, device);
          if (rules_.across_devices && ratio > 0.0) {
            scale_[device] = ratio;
            found_.times_not_compared.push_back(fmt::format(
                "{}: {} against {}: times are compared after division by the copy bandwidth that "
                "each reached",
                device, a, b));
          } else {
            found_.times_not_compared.push_back(
                fmt::format("{}: {} against {}: times are not compared{}", device, a, b,
                            rules_.across_devices ? ", since a run has no ceilings of it"
                                                  : " (--across-devices does)"));
          }
        }
      }
    }
  }

  static std::string named(const saved_run& run, const std::string& device) {
    for (const auto& [name, value] : run.environment) {
      if (name == device) {
        return value;
      }
    }
    return "";
  }

  static double bandwidth_ratio(const saved_run& old, const saved_run& now,
                                const std::string& device) {
    const auto a = old.copy_gb_per_s.find(device);
    const auto b = now.copy_gb_per_s.find(device);
    if (a == old.copy_gb_per_s.end() || b == now.copy_gb_per_s.end()) {
      return 0.0;
    }
    constexpr double most = 1e6;  // what lies beyond is no measurement
    const double ratio = b->second / a->second;
    return ratio > 1.0 / most && ratio < most ? ratio : 0.0;
  }

  void compare_states(const occurrences& old, const occurrences& now) {
    const saved_check& was = speaker(old);
    const saved_check& is = speaker(now);
    check_change change{is.id, is.device, state_text(old), state_text(now)};
    if (is_failure(was) && is_failure(is)) {
      found_.still_failing.push_back(std::move(change));
    } else if (is_failure(is)) {
      found_.broken.push_back(std::move(change));
    } else if (was.status != "skipped" && is.status == "skipped") {
      found_.no_longer_run.push_back(std::move(change));
    } else if (is_failure(was) || (was.status == "skipped" && is.status == "ok")) {
      found_.mended.push_back(std::move(change));
    }
  }

  void compare_links(const occurrences& old, const occurrences& now) {
    const saved_check& is = speaker(now);
    for (const char* name : {"on_device", "no_fallback", "correct", "path", "speed"}) {
      const saved_link* was = worst_link(old, name);
      const saved_link* become = worst_link(now, name);
      if (was == nullptr || become == nullptr) {
        continue;
      }
      const int step = rank_of(become->state) - rank_of(was->state);
      link_change change{is.id,    is.device, name, link_text(*was), link_text(*become),
                         step > 0, false};
      const bool renamed = std::string_view(name) == "path" && paths_of(old) != paths_of(now);
      if (renamed) {
        change.before = paths_of(old) + (step == 0 ? "" : ", " + link_text(*was));
        change.after = paths_of(now) + (step == 0 ? "" : ", " + link_text(*become));
      }
      if (step != 0 || renamed) {
        change.regression = step > 0 && counts(name);
        found_.links.push_back(std::move(change));
      } else if (std::string_view(name) == "correct") {
        compare_errors(old, now);
      }
    }
  }

  // Within the bound on both sides, and yet a change of kernel shows in it.
  void compare_errors(const occurrences& old, const occurrences& now) {
    constexpr double telling = 4.0;
    const auto worst = [](const occurrences& of) {
      std::optional<double> error;
      for (const saved_check* check : of) {
        if (check->normalised_error) {
          error = std::max(error.value_or(0.0), *check->normalised_error);
        }
      }
      return error;
    };
    const auto was = worst(old);
    const auto is = worst(now);
    if (was && is && (*is > telling * *was || *was > telling * *is)) {
      found_.links.push_back({now.back()->id, now.back()->device, "correct",
                              fmt::format("error {:.2g}", *was), fmt::format("error {:.2g}", *is),
                              *is > *was, false});
    }
  }

  static std::string paths_of(const occurrences& of) {
    std::set<std::string> names;
    for (const saved_check* check : of) {
      if (!check->path.empty()) {
        names.insert(check->path);
      }
    }
    return names.empty() ? "not known" : fmt::format("{}", fmt::join(names, " | "));
  }

  [[nodiscard]] bool counts(std::string_view link) const {
    return link == "path"      ? rules_.path
           : link == "correct" ? rules_.correctness
           : link == "speed"   ? false  // what became slower is judged by its times
                               : rules_.fallback;
  }

  void take_times(const occurrences& old, const occurrences& now) {
    const std::string& device = now.back()->device;
    if (unlike_.contains(device) && !scale_.contains(device)) {
      return;
    }
    if (inputs_of(old) != inputs_of(now)) {
      ++other_inputs_;
      return;
    }
    timed both;
    both.change.id = now.back()->id;
    both.change.device = device;
    const auto has_device_time = [](const saved_check* check) {
      return check->times.device_held && check->times.device_us.has_value();
    };
    both.change.of_device = std::all_of(old.begin(), old.end(), has_device_time) &&
                            std::all_of(now.begin(), now.end(), has_device_time);
    both.before = samples_of(old, both.change.of_device);
    both.after = samples_of(now, both.change.of_device);
    if (both.before.empty() || both.after.empty()) {
      return;
    }
    if (const auto scale = scale_.find(device); scale != scale_.end()) {
      for (double& sample : both.after) {
        sample *= scale->second;
      }
    }
    both.change.before_us = median_of(both.before);
    both.change.after_us = median_of(both.after);
    constexpr double least_us = 1e-6;  // of what is no time there is no ratio
    if (both.change.before_us >= least_us && both.change.after_us >= least_us) {
      timed_.push_back(std::move(both));
    }
  }

  // What the call works on, as far as the files tell: times of other inputs say nothing.
  static std::set<std::pair<std::string, double>> inputs_of(const occurrences& of) {
    std::set<std::pair<std::string, double>> inputs;
    for (const saved_check* check : of) {
      if (check->io_bytes) {
        inputs.emplace(check->sizes, *check->io_bytes);
      }
    }
    return inputs;
  }

  // The batches of all runs; where a side has several runs without batches, one value a run.
  static std::vector<double> samples_of(const occurrences& of, bool of_device) {
    std::vector<double> samples;
    for (const saved_check* check : of) {
      if (check->status != "ok") {
        continue;
      }
      const saved_times& times = check->times;
      const auto& batches = of_device ? times.device_samples_us : times.wall_samples_us;
      const auto& single = of_device ? times.device_us : times.wall_us;
      if (!batches.empty()) {
        samples.insert(samples.end(), batches.begin(), batches.end());
      } else if (single) {
        samples.push_back(*single);
      }
    }
    return samples;
  }

  void judge_times() {
    if (other_inputs_ > 0) {
      found_.times_not_compared.push_back(fmt::format(
          "{} check{}: other inputs on the two sides (--sizes, or another version of the pack)",
          other_inputs_, other_inputs_ == 1 ? "" : "s"));
    }
    std::vector<timed*> tested;
    std::vector<double> p;
    std::vector<double> ratios;
    for (timed& one : timed_) {
      one.change.ratio = one.change.after_us / one.change.before_us;
      if (const auto value = rank_test_p(one.before, one.after)) {
        tested.push_back(&one);
        p.push_back(*value);
      } else {
        ++found_.times_untested;
      }
      ratios.push_back(one.change.ratio);
    }
    found_.times_tested = tested.size();
    // What nearly all checks share is the machine's doing and said once.
    constexpr std::size_t enough = 10;
    if (ratios.size() >= enough) {
      found_.common_ratio = median_of(ratios);
    }
    std::vector<double> deviations;
    for (timed& one : timed_) {
      one.change.ratio /= found_.common_ratio.value_or(1.0);
      deviations.push_back(std::abs(std::log(one.change.ratio)));
    }
    double threshold = 1.0 + rules_.slower_percent.value_or(default_slower_percent) / 100.0;
    if (found_.common_ratio && !tested.empty()) {
      const double scatter = deviation_of_normal * median_of(deviations);
      found_.scatter_percent = (std::exp(scatter) - 1.0) * 100.0;
      threshold = std::max(threshold, std::exp(scatter * out_of_noise(rules_, tested.size())));
    }
    found_.least_percent = (threshold - 1.0) * 100.0;
    const std::vector<double> adjusted = holm_adjusted(p);
    std::set<const timed*> proven;
    for (std::size_t i = 0; i < tested.size(); ++i) {
      time_change& change = tested[i]->change;
      change.p = adjusted[i];
      proven.insert(tested[i]);
      if (change.p < rules_.significance && change.ratio >= threshold) {
        found_.slower.push_back(change);
      } else if (change.p < rules_.significance && change.ratio <= 1.0 / threshold) {
        found_.faster.push_back(change);
      }
    }
    for (const timed& one : timed_) {
      if (!proven.contains(&one) && one.change.ratio >= threshold) {
        found_.suspicious.push_back(one.change);
      }
    }
    const auto worst_first = [](const time_change& a, const time_change& b) {
      return a.ratio > b.ratio;
    };
    std::sort(found_.slower.begin(), found_.slower.end(), worst_first);
    std::sort(found_.suspicious.begin(), found_.suspicious.end(), worst_first);
    std::sort(found_.faster.begin(), found_.faster.end(),
              [](const time_change& a, const time_change& b) { return a.ratio < b.ratio; });
  }

  const std::vector<saved_run>& before_runs_;
  const std::vector<saved_run>& after_runs_;
  side before_, after_;
  const regression_rules& rules_;
  std::set<std::string> unlike_;
  std::map<std::string, double> scale_;
  std::vector<timed> timed_;
  std::size_t other_inputs_ = 0;
  comparison found_;
};

}  // namespace

comparison compare(const std::vector<saved_run>& before, const std::vector<saved_run>& after,
                   const regression_rules& rules) {
  return comparing(before, after, rules).make();
}

bool is_regression(const comparison& found, const regression_rules& rules) {
  return (rules.error &&
          (!found.broken.empty() || !found.vanished.empty() || !found.no_longer_run.empty())) ||
         std::any_of(found.links.begin(), found.links.end(),
                     [](const link_change& change) { return change.regression; }) ||
         (rules.slower_percent && !found.slower.empty()) || all_became_slower(found, rules);
}

bool all_became_slower(const comparison& found, const regression_rules& rules) {
  // The whole machine's speed varies more than that of one check beside the others.
  constexpr double of_the_threshold = 2.0;
  return rules.slower_percent && found.common_ratio && found.times_tested > 0 &&
         *found.common_ratio >= 1.0 + of_the_threshold * *rules.slower_percent / 100.0;
}

}  // namespace assay
