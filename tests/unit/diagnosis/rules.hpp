// SPDX-License-Identifier: Apache-2.0
//
// Rule files for tests, written with the few keys that a test is about.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "host/diagnosis/diagnose.hpp"

namespace assay::testing {

inline std::string pack(const std::string& id = "acme") {
  return "[pack]\nformat = 1\nid = \"" + id + "\"\nversion = \"1.0\"\nvendor = \"Acme\"\n";
}

/// A whole entry; `more` are further keys of it, `rules` what follows.
inline std::string entry(const std::string& code, const std::string& rules = "",
                         const std::string& more = "", const std::string& severity = "error") {
  return "[[diagnosis]]\ncode = \"" + code + "\"\nclass = \"class_of_" + code +
         "\"\ntitle = \"Title\"\ncategory = \"driver\"\nseverity = \"" + severity +
         "\"\nsince = \"0.1.0\"\ncause = \"Because.\"\nadvice.any = [\"$ acme-update\"]\n" + more +
         rules;
}

inline std::string a_rule(const std::string& keys) { return "[[diagnosis.rule]]\n" + keys + "\n"; }

/// An entry with one rule, which is likely.
inline std::string likely(const std::string& code, const std::string& keys,
                          const std::string& more = "", const std::string& severity = "error") {
  return entry(code, a_rule("confidence = \"likely\"\n" + keys), more, severity);
}

/// Of one rule file, which must be good.
inline knowledge known(const std::string& entries) {
  knowledge all;
  all.add("acme.assay.toml", pack() + entries);
  if (!all.packs.back().refused.empty()) {
    throw std::logic_error(all.packs.back().refused);
  }
  return all;
}

inline text_scan scanned(const knowledge& all, std::string_view text) {
  text_scan scan(all);
  scan.feed(text);
  scan.end_line();
  return scan;
}

/// What the rules say of a text, once the probes have spoken.
inline std::vector<found_diagnosis> judged(const knowledge& all, std::string_view text,
                                           const failure_facts& facts = {},
                                           const std::map<std::string, probe_result>& probes = {}) {
  const text_scan scan = scanned(all, text);
  return diagnoser::settle(diagnoser(all).by_rules(facts, scan), probes);
}

/// "ACME-OLD likely, ACME-NEW possible"
inline std::string in_short(const std::vector<found_diagnosis>& found) {
  std::string text;
  for (const found_diagnosis& d : found) {
    text += (text.empty() ? "" : ", ") + d.entry->code + " " + name_of(d.confidence);
    text += d.withdrawn ? " withdrawn" : "";
    text += d.consequence_of.empty() ? "" : " of " + d.consequence_of;
  }
  return text;
}

}  // namespace assay::testing
