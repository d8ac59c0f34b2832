// SPDX-License-Identifier: Apache-2.0
#include "result_records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "collected_run.hpp"
#include "host/results/record_reader.hpp"
#include "tally.hpp"

namespace assay {

namespace {

using nlohmann::json;

/// What the records of a run that was killed add up to.
json summary_of(const std::vector<json>& records) {
  tally sum;
  sum.interrupted = true;
  std::map<std::string, json> results;
  for (const json& record : records) {
    const std::string kind = text_of(record, "record");
    const std::string key = text_of(record, "device") + " " + text_of(record, "id");
    if (kind == "plugin") {
      sum.refused_plugins += text_of(record, "status") == "refused" ? 1 : 0;
    } else if (kind == "schedule") {
      for (const json& check : list_of(record, "checks")) {
        if (!flag_is(check, "baseline", true)) {
          ++sum.checks;
          sum.add_device(text_of(check, "device"));
        }
      }
    } else if (kind == "result" && text_of(record, "repeat_of").empty() &&
               !flag_is(record, "baseline", true)) {
      sum.add_result(record);
      results[key] = record;
    } else if (kind == "evidence" && results.contains(key)) {
      sum.add_verdict(record, results[key]);
    }
  }
  sum.not_run = sum.checks - sum.ran - sum.skipped;
  return sum.summary(0.0);
}

/// No fewer than there are.
std::size_t values_in(const std::string& line) {
  return static_cast<std::size_t>(std::count_if(
      line.begin(), line.end(), [](char c) { return c == ',' || c == '[' || c == '{'; }));
}

read_records read_all_records(record_reader& reader, const std::filesystem::path& file,
                              const reading_limits& limits) {
  read_records read;
  std::size_t values = 0;
  std::size_t results = 0;
  bool has_summary = false;
  while (reader.next()) {
    values += values_in(reader.line());
    if (values > limits.values) {
      throw results_error(fmt::format("{} has more than {} values; it is no result file of assay",
                                      file.string(), limits.values));
    }
    results += reader.kind() == "result" ? 1U : 0U;
    if (results > limits.results) {
      throw results_error(fmt::format("{} has more than {} results; it is no result file of assay",
                                      file.string(), limits.results));
    }
    read.records.push_back(json::parse(reader.line()));
    has_summary = reader.kind() == "summary";
  }
  const auto missing = reader.missing();
  if (missing) {
    read.remarks.push_back(*missing);
  }
  try {
    if (!has_summary) {
      read.records.push_back(summary_of(read.records));
    }
  } catch (const json::exception&) {
    throw changed_by_hand(file);
  }
  return read;
}

}  // namespace

results_error changed_by_hand(const std::filesystem::path& file) {
  return results_error(fmt::format(
      "{} has records that lack what every assay writes; it was changed by hand, or is none of "
      "assay's",
      file.string()));
}

read_records read_result_file(const std::filesystem::path& file, const reading_limits& limits) {
  record_reader reader(file, limits);
  return read_all_records(reader, file, limits);
}

read_records read_result_file(std::istream& text, const std::filesystem::path& name,
                              const reading_limits& limits) {
  record_reader reader(text, name, limits);
  return read_all_records(reader, name, limits);
}

}  // namespace assay
