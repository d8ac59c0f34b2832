// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// The records of one run, put together for the reports that need all of them.
struct collected_run {
  /// A check of the schedule. `result` is null when it did not run; `repeats` are the results of
  /// the checks that were repeated because of this one's fault.
  struct entry {
    std::string id;
    std::string device;
    nlohmann::json result;
    std::vector<nlohmann::json> repeats;
    bool baseline = false;    // it ran to be compared with
    nlohmann::json evidence;  // the `evidence` line, with the verdict
    nlohmann::json library_trace;
  };

  nlohmann::json run;
  nlohmann::json engine;
  nlohmann::json environment;     // null in the files of older versions
  nlohmann::json engine_failure;  // the engine record of a later worker that could not be started
  std::vector<nlohmann::json> plugins;
  std::vector<nlohmann::json> not_selected;
  std::vector<nlohmann::json> ceilings;
  std::vector<nlohmann::json> probes;
  std::vector<nlohmann::json> diagnoses;  // the gravest first
  std::vector<nlohmann::json> known_issues;
  std::vector<nlohmann::json> models;  // the `model` records
  std::string running;                 // "conv/conv2d[float32] on cuda:0": started, and not ended
  std::vector<entry> entries;          // as scheduled
  nlohmann::json summary;

  void add(const nlohmann::json& record);

  /// How many checks of the schedule have no result; a baseline does not count.
  [[nodiscard]] std::size_t not_run() const;

 private:
  entry* find(const std::string& id, const std::string& device);

  std::size_t last_fault_ = 0;
};

/// Members of records that may be missing or null.
std::string text_of(const nlohmann::json& object, std::string_view member);
double number_of(const nlohmann::json& object, std::string_view member);
std::optional<double> number_if_any(const nlohmann::json& object, std::string_view member);
const nlohmann::json& member_of(const nlohmann::json& object, std::string_view member);
const nlohmann::json& list_of(const nlohmann::json& object, std::string_view member);
bool flag_is(const nlohmann::json& object, std::string_view member, bool wanted);

/// The text with everything that is not UTF-8 replaced by U+FFFD.
std::string valid_utf8(const std::string& text);

/// The same, with control characters, which would act on the reader's terminal, shown as \x1b.
std::string printable(const std::string& text);

/// That a plugin was loaded although others may write it; "" for every other one.
std::string trusted_text(const nlohmann::json& plugin);

/// "ok", "crash" and so on; "ok, output on cpu" for a check that ran but not where it should.
std::string outcome(const nlohmann::json& result);

/// Whether it ended in an error, a crash or a timeout, or a link of its chain failed.
bool has_failed(const collected_run::entry& entry);

/// The device of the outputs ("cuda:0"; "cpu,cuda:0" where they differ), "" when there are none.
std::string output_devices(const nlohmann::json& result);

/// "SIGSEGV (11)", "exit code 3" or "".
std::string end_of_process(const nlohmann::json& result);

/// What was captured while a check ran, whole, for people: a title and the indented text, each line
/// ending with '\n'; "" when there is nothing.
std::string warnings_text(const nlohmann::json& result);
std::string fault_text(const nlohmann::json& result);  // the error, and how the process ended
std::string printed_text(const nlohmann::json& record, std::string_view stream,
                         std::string_view title);  // `stream`: "stdout" or "stderr"
std::string repeats_text(const collected_run::entry& entry);
std::string evidence_fault_text(const collected_run::entry& entry);  // of the second run

/// All of these.
std::string details(const collected_run::entry& entry);

}  // namespace assay
