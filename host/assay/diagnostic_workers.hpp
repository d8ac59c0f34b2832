// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "host/diagnosis/diagnose.hpp"
#include "supervisor.hpp"
#include "worker_process.hpp"

namespace assay {

/// The probes and classifiers of the plugins, each call in a worker process that has loaded the one
/// plugin concerned: what crashes or hangs costs its own answer only. A probe has a process to
/// itself, several run at a time.
class diagnostic_workers {
 public:
  struct tool {
    std::string id, summary;
    std::filesystem::path file;
  };

  /// `found`: the plugins, as read_catalogue() answers them.
  diagnostic_workers(const installation& here, const run_options& options, const catalogue& found);

  /// Only these classifiers are asked, whatever the plugins have.
  void use_classifiers(std::vector<tool> classifiers) { classifiers_ = std::move(classifiers); }

  /// Where probes look: options.sysroot, and what is known of LibTorch and the GPU ("": nothing).
  void look_at(const std::filesystem::path& torch_dir, const std::string& architecture);

  [[nodiscard]] const std::vector<tool>& probes() const { return probes_; }

  /// Asks these probes; one that no plugin has is answered "unknown", with that reason. Answers
  /// once asked are kept. Throws interrupted_error.
  const std::map<std::string, probe_result>& ask(const std::set<std::string>& ids);
  [[nodiscard]] const std::map<std::string, probe_result>& answers() const { return answers_; }

  /// Where probes were asked and the process of none of them could be started: why not; else "".
  [[nodiscard]] const std::string& why_none_started() const { return why_none_started_; }

  /// What one classifier answers, or why it did not.
  struct classified {
    std::string classifier;
    std::vector<nlohmann::json> answers;
    std::string fault;
    bool answered = true;  // it came back
    std::string printed;   // on its standard output and error
  };
  /// All classifiers on each failure, in order. `failures` have the members of assay_failure.
  std::vector<std::vector<classified>> classify(const std::vector<nlohmann::json>& failures);

 private:
  probe_result ask_one(const tool& probe, int ordinal, bool& began) const;
  std::unique_ptr<worker_process> start(const tool& one, int ordinal, bool prefixed,
                                        std::string& fault) const;

  const installation& here_;
  const run_options& options_;
  scratch_folder scratch_;
  std::vector<tool> probes_, classifiers_;
  std::filesystem::path torch_dir_;
  std::string architecture_;
  std::map<std::string, probe_result> answers_;
  std::string why_none_started_;
  int started_ = 0;
};

/// Adds what classifiers answered about one failure to what was found; what is wrong with an answer
/// becomes a remark, a line each.
void take_answers(const std::vector<diagnostic_workers::classified>& classified,
                  const diagnoser& judge, std::vector<found_diagnosis>& found,
                  std::vector<std::string>& remarks);

/// A failure as a classifier gets it.
nlohmann::json failure_json(const failure_facts& facts);

}  // namespace assay
