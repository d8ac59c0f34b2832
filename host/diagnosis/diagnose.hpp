// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "knowledge.hpp"
#include "text_scan.hpp"

namespace assay {

/// Everything known of one failure; an empty member: not known. As assay_failure of assay/abi.h.
struct failure_facts {
  std::string check, status, phase, device, error_type, error_text, trace, stderr_text, warnings;
  std::string stdout_text, log, chain, end, dtype, architecture, device_name, platform;
  std::string torch_version, torch_build;
  std::vector<std::string> operators;
  std::optional<std::vector<std::string>> environment;  // NAME=value

  /// Gives the texts to a scan, in the order that docs/writing-a-diagnostic-plugin.md states. The
  /// log is not among them: it may be long, and whoever has it feeds it.
  void feed(text_scan& scan) const;
};

/// What a probe answered.
struct probe_result {
  std::string id, state, fact;
  std::vector<std::string> evidence, findings;
  nlohmann::json values = nlohmann::json::object();
  double elapsed_ms = 0.0;
  bool answered = false;              // it came back; else `fact` says what happened instead
  std::optional<std::string> said{};  // its word for the state, as it stands
  std::string printed{};              // on its standard output and error
};

/// One answer to a failure.
struct found_diagnosis {
  const catalogue_entry* entry = nullptr;
  assay::confidence confidence = confidence::possible;
  std::string by;                     // rule or classifier
  std::string cause, advice;          // a classifier's or probe's own words, a step a line
  bool advice_instead = false;        // they take the place of the catalogue's
  std::vector<std::string> evidence;  // lines of the failure
  std::vector<std::string> probes;    // "rocm.hiprtc_headers no: what it saw"
  std::string consequence_of;         // code of another diagnosis of the same failure, or ""
  bool withdrawn = false;             // a probe refuted it
  std::size_t first_line = 0;
  std::size_t matched_length = 0;  // literal characters that its rule matched
  std::string probe, confirmed_by, refuted_by;
  bool guess = false;  // by a rule that needs facts, without them: counts when a probe confirms it
};

/// Rules against one failure. Nothing here runs code of others.
class diagnoser {
 public:
  explicit diagnoser(const knowledge& known) : known_(known) {}

  /// What the rules say; the scan holds all text of the failure.
  [[nodiscard]] std::vector<found_diagnosis> by_rules(const failure_facts& facts,
                                                      const text_scan& scan) const;

  /// One answer of a classifier, as the worker's `classified` record gives it. Nothing when it
  /// names no known code; `why` then says so.
  [[nodiscard]] std::optional<found_diagnosis> by_classifier(const nlohmann::json& answer,
                                                             const std::string& classifier,
                                                             std::string& why) const;

  /// Lets probes confirm and refute, then puts the best first: one of a code, consequences last,
  /// withdrawn ones behind them.
  static std::vector<found_diagnosis> settle(std::vector<found_diagnosis> found,
                                             const std::map<std::string, probe_result>& probes);

  /// The order of settle().
  static bool goes_before(const found_diagnosis& a, const found_diagnosis& b);

 private:
  [[nodiscard]] std::optional<found_diagnosis> apply(const rule& r, const failure_facts& facts,
                                                     const text_scan& scan) const;
  const knowledge& known_;
};

/// Probes that could confirm or refute these.
std::set<std::string> wanted_probes(const std::vector<found_diagnosis>& found);

/// As docs/results-format.md describes a diagnosis.
nlohmann::json to_json(const found_diagnosis& d);
/// What a probe that found or confirmed the diagnosis advises (its values `advice` and
/// `advice_instead`, or these of one code: `advice.CODE`).
void take_advice(found_diagnosis& d, const nlohmann::json& values);

/// What a probe says of one code that it found: its values `fact.CODE` and `evidence.CODE` (a line
/// each), else its fact and evidence as a whole.
std::string fact_for(const probe_result& p, const std::string& code);
std::vector<std::string> evidence_for(const probe_result& p, const std::string& code);

nlohmann::json to_json(const advice& a);
nlohmann::json to_json(const probe_result& p);

}  // namespace assay
