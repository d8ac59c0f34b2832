// SPDX-License-Identifier: Apache-2.0
#include "record_reader.hpp"

#include <fmt/format.h>

#include <cmath>

#include "json_members.hpp"

namespace assay {

namespace {

namespace fs = std::filesystem;

constexpr int newest_schema = 1;

results_error no_result_file(const fs::path& file) {
  return results_error(fmt::format(
      "{} is no result file: its first line is no record 'run'; assay run --json FILE writes one",
      file.string()));
}

std::string shown(simdjson::dom::element value) {
  constexpr std::size_t longest = 20;
  const std::string text = simdjson::minify(value);
  return text.size() <= longest ? text : "of another kind";
}

}  // namespace

record_reader::record_reader(const fs::path& file, const reading_limits& limits)
    : file_(file), limits_(limits), lines_(file, limits.line_bytes) {}

record_reader::record_reader(std::istream& text, const fs::path& name, const reading_limits& limits)
    : file_(name), limits_(limits), lines_(text, name, limits.line_bytes) {}

bool record_reader::next() {
  while (!damage_ && lines_.next()) {
    bytes_ += lines_.line().size() + 1;
    if (lines_.number() > limits_.lines || bytes_ > limits_.file_bytes) {
      throw results_error(
          fmt::format("{} has more than {} lines or {} MiB; it is no result file of assay",
                      file_.string(), limits_.lines, limits_.file_bytes >> 20U));
    }
    if (lines_.blank()) {
      continue;
    }
    const auto failure = parser_.parse(lines_.line()).get(record_);
    if (failure != simdjson::SUCCESS) {
      damage_ =
          lines_.damage(failure == simdjson::INCORRECT_TYPE ? "it is no JSON object"
                                                            : simdjson::error_message(failure));
      break;
    }
    kind_ = text_in(record_, "record");
    if (schema_version_ == 0) {
      begin();
    }
    has_summary_ = has_summary_ || kind_ == "summary";
    return true;
  }
  if (schema_version_ == 0) {
    throw no_result_file(file_);
  }
  return false;
}

std::optional<std::string> record_reader::missing() const {
  return damage_ ? damage_
         : has_summary_
             ? std::nullopt
             : std::optional<std::string>("the run did not come to its end: there is no summary");
}

void record_reader::begin() {
  simdjson::dom::element version;
  if (kind_ != "run" || record_["schema_version"].get(version) != simdjson::SUCCESS) {
    throw no_result_file(file_);
  }
  double number = 0.0;
  if (version.get(number) != simdjson::SUCCESS || number < 1.0 || std::floor(number) != number) {
    throw results_error(fmt::format(
        "{} has schema version {}, which no assay writes; it must be a whole number from 1 to {}",
        file_.string(), shown(version), newest_schema));
  }
  if (number > newest_schema) {
    throw results_error(
        fmt::format("{} has schema version {}, this assay reads up to {}; use a newer assay",
                    file_.string(), number, newest_schema));
  }
  schema_version_ = static_cast<int>(number);
}

}  // namespace assay
