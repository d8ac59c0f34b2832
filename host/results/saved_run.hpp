// SPDX-License-Identifier: Apache-2.0
//
// A result file, read again: what a comparison needs of it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <iosfwd>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

/// The file cannot be taken for a result file; what() is one line that names it.
class results_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct saved_link {
  std::string state;  // "pass", "warn", "fail", "unknown"
  std::string why;
};

/// Microseconds per call; see docs/results-format.md.
struct saved_times {
  std::string profile;
  std::optional<double> wall_us, device_us, submit_us, first_call_us;
  bool device_held = false;                                // device_us is device work alone
  std::vector<double> wall_samples_us, device_samples_us;  // one a batch; empty: not taken
};

struct saved_check {
  std::string id, device, status;
  std::string error;    // first line of the error's message
  std::string verdict;  // "" where it was not judged
  std::string path, bound;
  std::map<std::string, saved_link> links;  // by name: "ran", "no_fallback", ...
  std::optional<double> normalised_error;   // the worst of its outputs
  std::string sizes;                        // "classic", "large"; "" where it was not judged
  std::optional<double> io_bytes;           // of all inputs and outputs
  saved_times times;
};

struct saved_run {
  std::filesystem::path file;
  std::string started;
  std::string summary;  // the last line of its report; "" where it did not come to its end
  int schema_version = 0;
  /// What the run was made with, in the order of the report: "LibTorch" -> "2.11.0+cu130".
  std::vector<std::pair<std::string, std::string>> environment;
  std::map<std::string, std::string> architectures;  // device -> "sm_90"
  std::set<std::string> recorded;  // of these names: those of `environment` and `clocks` lines
  std::map<std::string, double> copy_gb_per_s;      // device -> measured ceiling
  std::map<std::string, double> ceilings;           // "copy bandwidth of cuda:0, GB/s" -> measured
  std::optional<double> throttle_count;             // of the CPU, when the run began
  std::map<std::string, saved_check> checks;        // by "device id"; no repeats, no baselines
  std::map<std::string, std::string> not_selected;  // "category/name" -> why it was not run
  std::vector<std::string> remarks;                 // what is missing of it, a line each
};

/// Bounds that no result file of assay comes near, so that a hostile one ends in one line.
struct reading_limits {
  std::size_t file_bytes = std::size_t{512} << 20;
  std::size_t line_bytes = std::size_t{16} << 20;
  std::size_t lines = 2'000'000;
  std::size_t checks = 200'000;
  std::size_t samples = 20'000'000;
  std::size_t environment = 1000;
  std::size_t links = 32;  // of one check
  // Where a file is kept whole (`assay report`):
  std::size_t values = 10'000'000;  // of JSON
  std::size_t results = 50'000;
};

/// Reads a file line by line in bounded memory. A last line that a crash cut off is a remark;
/// damage further up ends the reading there, with a remark that names the line. Throws
/// results_error where there is no record `run` to begin with, and for what passes the limits.
saved_run read_saved_run(const std::filesystem::path& file, const reading_limits& limits = {});
/// Of the text of a result file, which `name` stands for.
saved_run read_saved_run(std::istream& text, const std::filesystem::path& name,
                         const reading_limits& limits = {});

/// The result files that these words name: files, and the *.jsonl and *.json of folders, in the
/// order of their names. Throws results_error for what does not exist and for a folder without any.
std::vector<std::filesystem::path> result_files(const std::vector<std::filesystem::path>& named);

}  // namespace assay
