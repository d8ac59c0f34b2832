// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "collected_run.hpp"
#include "known_issue_file.hpp"
#include "schedule.hpp"
#include "supervisor.hpp"

namespace assay {

/// What the entries of --known-issues say about a run. An entry excuses only the kinds of failure
/// that it names, of the checks that it names, on the devices for which its conditions are known to
/// hold; a check is excused when each of its failures is.
class known_issues {
 public:
  known_issues() = default;
  /// `today`: "2026-11-30". `evidence`: whether the run has the chain of evidence.
  known_issues(std::vector<known_issue> issues, std::string today, bool evidence)
      : issues_(issues.begin(), issues.end()), today_(std::move(today)), evidence_(evidence) {}

  /// What runs, and where: which entries are about it.
  void meet(const catalogue& all, const nlohmann::json& engine,
            const std::vector<planned_check>& checks);

  /// Adds `known_issues` and `known` to a `result` line that an entry is about.
  void judge_result(nlohmann::json& result);
  /// The same of an `evidence` line; `result` is the line of the same check.
  void judge_evidence(nlohmann::json& evidence, const nlohmann::json& result);

  /// The `known_issue` lines of docs/results-format.md, one for each entry, once all has run.
  [[nodiscard]] std::vector<nlohmann::json> records() const;

 private:
  enum class outcome { not_run, as_known, passed, undecided };
  struct met_check {
    std::string id, device;
    outcome ended = outcome::not_run;
    std::string why;  // undecided
  };
  struct entry {
    explicit entry(known_issue from) : issue(std::move(from)) {}
    known_issue issue;
    bool in_catalogue = false;  // it names a check that there is
    std::string unknown;        // which condition cannot be judged, and where
    std::string near;           // "; did you mean ..." where it names none
    std::vector<met_check> checks;
  };

  [[nodiscard]] bool expired(const entry& one) const;
  void judge(nlohmann::json& line, const nlohmann::json& result, const nlohmann::json& evidence);
  [[nodiscard]] nlohmann::json record_of(const entry& one) const;

  std::vector<entry> issues_;
  std::string today_;
  bool evidence_ = true;
  bool met_ = false;
};

/// What went wrong with a check: by the words of known_failures() but "ran", and whether it is a
/// failure or only a warning. What failed while it was watched is none of them: that is no failure
/// of the check.
struct check_trouble {
  std::string kind;
  bool failed = true;
};
std::vector<check_trouble> troubles_of(const nlohmann::json& result,
                                       const nlohmann::json& evidence);

/// Whether all of its failures are known issues, and there is one.
bool is_known(const collected_run::entry& entry);

/// "MIOpen bug 1234 (https://..., known.toml:3)", several joined; "" without a known issue.
std::string known_text(const collected_run::entry& entry);

/// Of a `known_issue` line: whether people should look at the entry. One that was seen, or that is
/// about other machines, is as it should be.
bool needs_a_look(const nlohmann::json& issue);

}  // namespace assay
