// SPDX-License-Identifier: Apache-2.0
//
// What must hold for any text that is given to assay as a result file.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

#include "host/assay/collected_run.hpp"
#include "host/assay/result_records.hpp"
#include "host/results/compare.hpp"
#include "host/results/saved_run.hpp"

namespace assay::testing {

/// Whether it is a result file, by `assay compare` and by `assay report`. Throws std::logic_error
/// for what must not be; whatever else a text can make them throw, they have to expect.
inline bool reads_as_result_file(const std::string& text) {
  const auto must = [](bool holds, const char* what) {
    if (!holds) {
      throw std::logic_error(what);
    }
  };
  const std::string name = "run.jsonl";
  bool compared = false;
  try {
    std::istringstream in(text);
    const saved_run run = read_saved_run(in, name);
    compared = true;
    regression_rules rules;
    rules.across_devices = true;
    const comparison found = compare({run}, {run}, rules);
    must(!found.regression && found.broken.empty() && found.vanished.empty() &&
             found.slower.empty() && found.faster.empty() && found.environment.empty() &&
             found.links.empty(),
         "a run that is compared with itself has changes");
    must(found.checks_in_both == run.checks.size(), "checks are lost in a comparison");
    must(!found.common_ratio || *found.common_ratio == 1.0, "a ratio to itself is not 1");
  } catch (const results_error& refusal) {
    must(std::string(refusal.what()).starts_with(name), "a refusal does not name the file");
  }
  bool reported = false;
  try {
    std::istringstream in(text);
    const read_records read = read_result_file(in, name);
    reported = true;
    must(compared, "a report is made of what a comparison refuses");
    must(!read.records.empty(), "there are no records");
    collected_run run;
    for (const nlohmann::json& record : read.records) {
      run.add(record);
    }
    for (const collected_run::entry& entry : run.entries) {
      details(entry);
    }
  } catch (const results_error& refusal) {
    must(std::string(refusal.what()).starts_with(name), "a refusal does not name the file");
  } catch (const nlohmann::json::exception&) {
    // `assay report` says that the file was changed by hand.
    must(reported, "the reader let an exception of the JSON library out");
  }
  return compared && reported;
}

}  // namespace assay::testing
