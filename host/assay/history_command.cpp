// SPDX-License-Identifier: Apache-2.0
#include "history_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "baseline_command.hpp"
#include "errors.hpp"
#include "host/common/glob.hpp"
#include "host/common/nearest.hpp"
#include "host/store/level_shift.hpp"
#include "report_command.hpp"

namespace assay {

namespace {

struct point {
  std::size_t run = 0;  // index into the runs
  double median_us = 0.0;
};

struct shown_series {
  const stored_series* of = nullptr;
  std::vector<point> points;
  bool of_device = false;        // the points are device times: as the newest run was timed
  std::size_t without_time = 0;  // runs in which it failed, was skipped or was timed otherwise
};

/// "category/name[dtype]" against the globs that --enable knows.
bool is_wanted(const std::vector<std::string>& globs, const std::string& id) {
  const auto slash = id.find('/');
  const auto bracket = id.rfind('[');
  if (slash == std::string::npos || bracket == std::string::npos || bracket < slash) {
    return globs.empty();
  }
  const std::string_view text(id);
  return globs.empty() || std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) {
           return selects(glob, text.substr(0, slash), text.substr(slash + 1, bracket - slash - 1),
                          text.substr(bracket + 1, text.size() - bracket - 2));
         });
}

/// At most `columns` points: the median of each share, so that a long history fits a line.
std::vector<double> squeezed(const std::vector<point>& points, std::size_t columns) {
  std::vector<double> values;
  const std::size_t count = std::min(columns, points.size());
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t begin = i * points.size() / count;
    const std::size_t end = (i + 1) * points.size() / count;
    std::vector<double> share;
    for (std::size_t k = begin; k < end; ++k) {
      share.push_back(points[k].median_us);
    }
    std::nth_element(share.begin(), share.begin() + static_cast<std::ptrdiff_t>(share.size() / 2),
                     share.end());
    values.push_back(share[share.size() / 2]);
  }
  return values;
}

/// One block a value, the lowest and the highest of the series at the ends of the scale. Where
/// they lie within 5 % of each other the scale is that wide, or noise would look like cliffs.
std::string plot(const std::vector<double>& values) {
  static constexpr std::array<const char*, 8> blocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr double least_range = 1.05;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double range = std::max(std::log(*high / *low), std::log(least_range));
  std::string text;
  for (const double value : values) {
    const double place = std::log(value / *low) / range * static_cast<double>(blocks.size());
    text += blocks[std::min(static_cast<std::size_t>(place), blocks.size() - 1)];
  }
  return text;
}

std::string changed_between(const stored_run& before, const stored_run& after) {
  const std::map<std::string, std::string> old(before.environment.begin(),
                                               before.environment.end());
  std::vector<std::string> changes;
  std::set<std::string> names;
  for (const auto& [name, value] : after.environment) {
    names.insert(name);
    const auto was = old.find(name);
    const std::string text = was == old.end() ? "-" : was->second;
    if (text != value) {
      changes.push_back(fmt::format("{}: {} -> {}", name, text, value));
    }
  }
  for (const auto& [name, value] : old) {
    if (!names.contains(name)) {
      changes.push_back(fmt::format("{}: {} -> -", name, value));
    }
  }
  return fmt::format("{}", fmt::join(changes, "; "));
}

class history_page {
 public:
  history_page(const history_request& request, const run_store& store, report_paper& paper)
      : request_(request), paper_(paper), series_(store.series()) {
    for (stored_run& run : store.runs()) {
      if (request.name.empty() || run.name == request.name) {
        places_[run.id] = runs_.size();
        runs_.push_back(std::move(run));
      }
    }
    if (runs_.empty()) {
      static_cast<void>(store.find(request.name));  // says which names there are
    }
    for (const stored_series& series : series_) {
      if (is_wanted(request.globs, series.check_id)) {
        add(series);
      }
    }
    if (shown_.empty()) {
      refuse();
    }
  }

  int print() {
    if (request_.csv) {
      print_csv();
      return exit_status::ok;
    }
    paper_.line(
        fmt::format("{} runs, {} to {}", runs_.size(), runs_.front().saved, runs_.back().saved));
    paper_.line("");
    for (const shown_series& one : shown_) {
      print_series(one);
    }
    print_environment();
    return exit_status::ok;
  }

 private:
  void add(const stored_series& series) {
    shown_series one{&series, {}, false, 0};
    bool any = false;
    for (const stored_median& median : series.medians) {
      if (places_.contains(median.run_id) && median.median_us) {
        one.of_device = median.of_device;
      }
    }
    for (const stored_median& median : series.medians) {
      const auto place = places_.find(median.run_id);
      if (place == places_.end()) {
        continue;
      }
      any = true;
      if (median.median_us && *median.median_us > 0.0 && median.of_device == one.of_device) {
        one.points.push_back({place->second, *median.median_us});
      } else {
        ++one.without_time;
      }
    }
    if (any) {
      shown_.push_back(std::move(one));
    }
  }

  [[noreturn]] void refuse() const {
    std::set<std::string> names;
    for (const stored_series& series : series_) {
      names.insert(series.check_id.substr(0, series.check_id.find('[')));
    }
    const std::string near =
        request_.globs.empty() ? "" : did_you_mean(request_.globs.front(), names);
    throw usage_error(fmt::format(
        "no check of the kept runs matches '{}'{}", fmt::join(request_.globs, " "),
        near.empty() ? "; a glob is of a category, category/name or category/name[dtype]" : near));
  }

  void print_series(const shown_series& one) {
    const stored_series& of = *one.of;
    const std::string name = fmt::format("{} on {}", of.check_id, of.device);
    if (one.points.empty()) {
      paper_.line(fmt::format("{}: not timed in {} runs, last {}", name, one.without_time,
                              of.medians.back().status));
      return;
    }
    std::vector<double> values;
    for (const point& at : one.points) {
      values.push_back(at.median_us);
    }
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    const std::string numbers = fmt::format(
        "{} us {}, {} to {}{}", microseconds(values.back()), one.of_device ? "device" : "wall",
        microseconds(*low), microseconds(*high),
        one.without_time == 0 ? "" : fmt::format("; {} runs without times", one.without_time));
    paper_.line(fmt::format("{}: {}", name, numbers));
    constexpr std::size_t indent = 2;
    constexpr std::size_t widest = 120;
    paper_.line("  " + plot(squeezed(one.points, std::min(paper_.width() - indent, widest))));
    for (const level_shift& shift : level_shifts(values)) {
      const std::size_t run = one.points[shift.at].run;
      const bool slower = shift.after > shift.before;
      paper_.line(paper_.colored(
          slower ? colors::red : colors::green,
          fmt::format("  {} from {} on: {} -> {} us ({:+.0f} %)", slower ? "slower" : "faster",
                      name_of(runs_[run]), microseconds(shift.before), microseconds(shift.after),
                      (shift.after / shift.before - 1.0) * 100.0)));
      const std::size_t before = one.points[shift.at - 1].run;
      if (const std::string what = changed_between(runs_[before], runs_[run]); !what.empty()) {
        paper_.labelled("    with it changed ", what);
      }
    }
  }

  void print_environment() {
    bool any = false;
    for (std::size_t i = 1; i < runs_.size(); ++i) {
      if (const std::string what = changed_between(runs_[i - 1], runs_[i]); !what.empty()) {
        if (!any) {
          paper_.line("\nEnvironment");
        }
        any = true;
        paper_.labelled(fmt::format("  {}: ", name_of(runs_[i])), what);
      }
    }
    if (!any && runs_.size() > 1) {
      paper_.line("\nEnvironment: nothing changed between these runs, as far as they tell");
    }
  }

  void print_csv() {
    paper_.out() << "id,device,name,number,saved,status,verdict,path,of,median_us\r\n";
    for (const shown_series& one : shown_) {
      for (const stored_median& median : one.of->medians) {
        const auto place = places_.find(median.run_id);
        if (place == places_.end()) {
          continue;
        }
        const stored_run& run = runs_[place->second];
        std::vector<std::string> cells{
            one.of->check_id,
            one.of->device,
            run.name,
            std::to_string(run.number),
            run.saved,
            median.status,
            median.verdict,
            median.path,
            !median.median_us  ? ""
            : median.of_device ? "device_us"
                               : "wall_us",
            median.median_us ? fmt::format("{:.6g}", *median.median_us) : ""};
        std::transform(cells.begin(), cells.end(), cells.begin(), csv_cell);
        paper_.out() << fmt::format("{}\r\n", fmt::join(cells, ","));
      }
    }
  }

  const history_request& request_;
  report_paper& paper_;
  std::vector<stored_series> series_;
  std::vector<stored_run> runs_;
  std::map<std::int64_t, std::size_t> places_;
  std::vector<shown_series> shown_;
};

}  // namespace

int history_command(const history_request& request, report_paper& paper) {
  try {
    const run_store store(request.options.store, run_store::access::reading);
    if (store.runs().empty()) {
      throw usage_error("no run is kept; assay run --save NAME keeps one");
    }
    return history_page(request, store, paper).print();
  } catch (const store_error& error) {
    throw usage_error(error.what());
  }
}

}  // namespace assay
