// SPDX-License-Identifier: Apache-2.0
#include "saved_run.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>

#include "fingerprint.hpp"
#include "json_members.hpp"
#include "record_reader.hpp"

namespace assay {

namespace {

namespace fs = std::filesystem;
using simdjson::dom::object;

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// What no clock says counts as not said: sums and ratios of the others are finite.
bool is_time(double us) {
  constexpr double longest_us = 1e15;
  return us >= 0.0 && us <= longest_us;
}

std::optional<double> time_in(object record, std::string_view name) {
  const auto us = number_in(record, name);
  return us && is_time(*us) ? us : std::nullopt;
}

std::vector<double> times_in(object record, std::string_view name) {
  std::vector<double> times;
  if (const auto list = list_in(record, name)) {
    times.reserve(list->size());
    for (const auto element : *list) {
      double us = 0.0;
      if (element.get(us) == simdjson::SUCCESS && is_time(us)) {
        times.push_back(us);
      }
    }
  }
  return times;
}

saved_times times_of(object timing) {
  saved_times times;
  times.profile = text_in(timing, "profile");
  times.wall_us = time_in(timing, "wall_us");
  times.device_us = time_in(timing, "device_us");
  times.submit_us = time_in(timing, "submit_us");
  times.first_call_us = time_in(timing, "first_call_us");
  times.device_held = text_in(timing, "device_basis") == "held";
  if (const auto samples = object_in(timing, "samples")) {
    times.wall_samples_us = times_in(*samples, "wall_us");
    times.device_samples_us = times_in(*samples, "device_us");
  }
  return times;
}

class reader {
 public:
  reader(const fs::path& file, const reading_limits& limits)
      : limits_(limits), records_(file, limits) {
    run_.file = file;
  }
  reader(std::istream& text, const fs::path& name, const reading_limits& limits)
      : limits_(limits), records_(text, name, limits) {
    run_.file = name;
  }

  saved_run read() {
    while (records_.next()) {
      take(records_.record(), records_.kind());
    }
    if (const auto missing = records_.missing()) {
      run_.remarks.push_back(*missing);
    }
    return std::move(run_);
  }

 private:
  void take(object record, const std::string& kind) {
    if (run_.schema_version == 0) {
      run_.schema_version = records_.schema_version();
      run_.started = text_in(record, "started");
    }
    note_environment(run_, kind, record);
    require_at_most(run_.environment.size(), limits_.environment, "facts of its environment");
    if (kind == "result") {
      take_result(record);
    } else if (kind == "evidence") {
      take_evidence(record);
    } else if (kind == "schedule") {
      take_schedule(record);
    } else if (kind == "summary") {
      run_.summary = text_in(record, "text");
      if (flag_in(record, "interrupted")) {
        run_.remarks.emplace_back("the run was interrupted");
      }
    }
  }

  void require_at_most(std::size_t count, std::size_t most, const char* what) const {
    if (count > most) {
      throw results_error(fmt::format("{} has more than {} {}; it is no result file of assay",
                                      run_.file.string(), most, what));
    }
  }

  void take_schedule(object record) {
    if (const auto list = list_in(record, "not_selected")) {
      for (const auto element : *list) {
        object check;
        if (element.get(check) == simdjson::SUCCESS) {
          run_.not_selected[text_in(check, "id")] = text_in(check, "reason");
        }
      }
      require_at_most(run_.not_selected.size(), limits_.checks, "checks");
    }
  }

  // A check that was repeated to clear a neighbour, or ran to be compared with, is no result.
  void take_result(object record) {
    std::string_view repeated;
    if (record["repeat_of"].get(repeated) == simdjson::SUCCESS || flag_in(record, "baseline")) {
      return;
    }
    saved_check check;
    check.id = text_in(record, "id");
    check.device = text_in(record, "device");
    check.status = text_in(record, "status");
    if (const auto error = object_in(record, "error")) {
      check.error = first_line(text_in(*error, "message"));
    }
    if (const auto timing = object_in(record, "timing")) {
      check.times = times_of(*timing);
      samples_ += check.times.wall_samples_us.size() + check.times.device_samples_us.size();
      require_at_most(samples_, limits_.samples, "samples");
    }
    const std::string key = check.device + " " + check.id;
    run_.checks.insert_or_assign(key, std::move(check));
    require_at_most(run_.checks.size(), limits_.checks, "checks");
  }

  void take_evidence(object record) {
    const auto known = run_.checks.find(text_in(record, "device") + " " + text_in(record, "id"));
    const auto verdict = object_in(record, "verdict");
    if (known == run_.checks.end() || !verdict) {
      return;
    }
    saved_check& check = known->second;
    check.verdict = text_in(*verdict, "verdict");
    check.path = text_in(*verdict, "path");
    check.bound = text_in(*verdict, "bound");
    if (const auto links = object_in(*verdict, "links")) {
      for (const auto field : *links) {
        object link;
        if (field.value.get(link) == simdjson::SUCCESS) {
          check.links[std::string(field.key)] = {text_in(link, "state"), text_in(link, "why")};
        }
      }
      require_at_most(check.links.size(), limits_.links, "links of a check");
    }
    const auto evidence = object_in(record, "evidence");
    if (evidence) {
      check.sizes = text_in(*evidence, "sizes");
      check.io_bytes = number_in(*evidence, "io_bytes");
    }
    const auto correct = evidence ? object_in(*evidence, "correct") : std::nullopt;
    const auto outputs = correct ? list_in(*correct, "outputs") : std::nullopt;
    if (!outputs) {
      return;
    }
    for (const auto element : *outputs) {
      object output;
      if (element.get(output) == simdjson::SUCCESS) {
        if (const auto error = number_in(output, "normalised_error")) {
          check.normalised_error = std::max(check.normalised_error.value_or(0.0), *error);
        }
      }
    }
  }

  reading_limits limits_;
  record_reader records_;
  saved_run run_;
  std::size_t samples_ = 0;
};

}  // namespace

saved_run read_saved_run(const fs::path& file, const reading_limits& limits) {
  return reader(file, limits).read();
}

saved_run read_saved_run(std::istream& text, const fs::path& name, const reading_limits& limits) {
  return reader(text, name, limits).read();
}

std::vector<fs::path> result_files(const std::vector<fs::path>& named) {
  std::vector<fs::path> files;
  for (const fs::path& one : named) {
    std::error_code error;
    if (!fs::is_directory(one, error)) {
      files.push_back(one);
      continue;
    }
    std::vector<fs::path> inside;
    for (const auto& entry : fs::directory_iterator(one, error)) {
      const std::string ending = entry.path().extension().string();
      if ((ending == ".jsonl" || ending == ".json") && entry.is_regular_file(error)) {
        inside.push_back(entry.path());
      }
    }
    if (inside.empty()) {
      throw results_error(fmt::format(
          "{} holds no result file (*.jsonl, *.json); name files, or a folder that has some",
          one.string()));
    }
    std::sort(inside.begin(), inside.end());
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

}  // namespace assay
