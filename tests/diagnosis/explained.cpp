// SPDX-License-Identifier: Apache-2.0
#include "explained.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include "diag_rocm/override_text.hpp"
#include "diag_torch/classifiers.hpp"
#include "host/diagnosis/log_filter.hpp"

namespace assay::testing {

namespace {

/// The answers of the classifiers whose texts occur.
void ask_classifiers(const knowledge& known, const text_scan& scan, const failure_facts& facts,
                     std::vector<found_diagnosis>& found) {
  std::vector<std::unique_ptr<classifier>> all;
  all.push_back(std::make_unique<diag_torch::out_of_memory>());
  all.push_back(std::make_unique<diag_torch::device_mismatch>());
  all.push_back(std::make_unique<diag_torch::dtype_not_implemented>());
  all.push_back(std::make_unique<diag_rocm::override_in_text>());
  failure f{};
  f.status = facts.status;
  f.error_text = facts.error_text;
  f.stderr_text = facts.stderr_text;
  f.log = facts.log;
  f.platform = facts.platform;
  f.architecture = facts.architecture;
  f.torch_build = facts.torch_build;
  f.torch_version = facts.torch_version;
  for (const known_classifier& one : known.classifiers) {
    const auto mine = std::find_if(
        all.begin(), all.end(), [&](const auto& candidate) { return candidate->id() == one.id; });
    if (mine == all.end() || std::none_of(one.any.begin(), one.any.end(), [&](std::size_t pattern) {
          return !scan.of(pattern).empty();
        })) {
      continue;
    }
    for (const diagnosis& answer : (*mine)->classify(f)) {
      std::string why;
      if (auto d = diagnoser(known).by_classifier({{"code", answer.code},
                                                   {"confidence", answer.confidence},
                                                   {"cause", answer.cause},
                                                   {"advice", answer.advice},
                                                   {"evidence", answer.evidence}},
                                                  one.id, why)) {
        found.push_back(std::move(*d));
      }
    }
  }
}

}  // namespace

const shipped& shipped_rules() {
  static const shipped all = [] {
    shipped made{read_knowledge({ASSAY_RULES_DIR}, true), {}};
    for (const rule_pack& pack : made.known.packs) {
      if (!pack.refused.empty()) {
        made.complaints.push_back(pack.file.string() + ": " + pack.refused);
      }
    }
    for (std::string& line : made.known.loose_ends()) {
      made.complaints.push_back(std::move(line));
    }
    return made;
  }();
  return all;
}

std::string explanation::all() const {
  std::string text;
  for (const found_diagnosis& d : found) {
    text += d.entry->code + " (" + d.entry->klass + ") " + name_of(d.confidence) + " by " + d.by +
            (d.consequence_of.empty() ? "" : ", a consequence of " + d.consequence_of) +
            (d.withdrawn ? ", withdrawn" : "") + "\n";
  }
  return text;
}

explanation explain_text(std::string_view log, failure_facts facts,
                         const std::map<std::string, std::string>& probes) {
  const knowledge& known = shipped_rules().known;
  text_scan scan(known);
  log_filter filter;
  scan.feed(filter.clean(log));
  scan.feed(filter.end());
  scan.end_line();
  facts.feed(scan);
  facts.log = scan.excerpt();
  if (facts.platform.empty()) {
    facts.platform = filter.platform();
  }
  std::vector<found_diagnosis> found = diagnoser(known).by_rules(facts, scan);
  ask_classifiers(known, scan, facts, found);
  std::map<std::string, probe_result> answers;
  for (const auto& [id, state] : probes) {
    answers[id] = {id, state, "as the test says", {}, {}};
  }
  return {diagnoser::settle(std::move(found), answers)};
}

}  // namespace assay::testing
