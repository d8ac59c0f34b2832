// SPDX-License-Identifier: Apache-2.0
//
// What `assay check-plugin` finds. docs/checking-a-plugin.md lists the kinds.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace assay::conformance {

enum class level { note, warning, error };
const char* name_of(level l);

/// One finding, of one line. `kind` is for programs and never changes its meaning.
struct finding {
  level is = level::note;
  std::string kind;     // "wrong-result"
  std::string subject;  // "norm/rms_norm[float16]", a probe's id, "" for the file as a whole
  std::string what;     // what was found
  std::string why;      // why it matters
  std::string advice;   // what to do
};

/// One plugin or rule file, and all that was found.
struct examined_file {
  std::filesystem::path file;
  std::string id;                      // "" until it is known
  std::string facts;                   // one line for people: version, vendor, what it brings
  nlohmann::json plugin;               // its `plugin` record, null while there is none
  std::vector<nlohmann::json> checks;  // its `check` records
  std::vector<finding> findings;

  void add(level is, std::string kind, std::string subject, std::string what, std::string why,
           std::string advice) {
    findings.push_back({is, std::move(kind), std::move(subject), std::move(what), std::move(why),
                        std::move(advice)});
  }
  [[nodiscard]] bool loaded() const;
};

/// Joins what several findings say of one check in different dtypes: "norm/x[float16, bfloat16]".
/// Puts errors first, notes last, and keeps the order otherwise.
void settle(std::vector<finding>& findings);

/// What findings advise by the names of the SDK's functions ("declare it with moves()"), by those
/// of the keys of a pack in TOML.
void speak_of_keys(std::vector<finding>& findings);

/// The text's first line that is not blank, for a sentence; shortened where it is long.
std::string first_words(const std::string& text);

}  // namespace assay::conformance
