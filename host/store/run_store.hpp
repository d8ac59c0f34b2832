// SPDX-License-Identifier: Apache-2.0
//
// Runs that were kept: `assay run --save NAME`. A name has one or more runs; the newest speaks for
// it. One SQLite file, which several processes may use at once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "host/results/saved_run.hpp"

namespace SQLite {  // NOLINT(readability-identifier-naming): the library's own name
class Database;
}

namespace assay {

/// The store cannot do what was asked; what() is one line that names the file, what was found and
/// what to do.
class store_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct stored_run {
  std::int64_t id = 0;
  std::string name;
  int number = 0;  // of the runs of this name, from 1; the newest has the highest
  std::string saved, started, summary;
  std::vector<std::pair<std::string, std::string>> environment;
};

/// The median of one check in one run.
struct stored_median {
  std::int64_t run_id = 0;
  std::string status, verdict, path;
  bool of_device = false;  // device time; else wall time
  std::optional<double> median_us;
};

struct stored_series {
  std::string check_id, device;
  std::vector<stored_median> medians;  // by run id
};

/// Letters, digits and ._- , at most 64, and no '@', which stands before a number.
bool is_run_name(const std::string& name);

/// The store's file unless --store names one: in the user's data folder; empty where there is none.
std::filesystem::path default_store_file();

class run_store {
 public:
  /// reading: a file that is not there is an error, and nothing is written. writing: the file and
  /// its folder are made; that it can be written is tried at once. Throws store_error, as every
  /// member does.
  enum class access { reading, writing };
  run_store(const std::filesystem::path& file, access how);
  ~run_store();
  run_store(run_store&&) noexcept;
  run_store& operator=(run_store&&) = delete;
  run_store(const run_store&) = delete;
  run_store& operator=(const run_store&) = delete;

  /// `document`: the text of a result file, `run` what was read of it. All or nothing is kept.
  stored_run save(const std::string& name, const saved_run& run, const std::string& document);

  /// In the order in which they were saved, without their documents.
  [[nodiscard]] std::vector<stored_run> runs() const;

  /// "before": the newest of that name; "before@2": its second. Throws store_error with the nearest
  /// name where there is none.
  [[nodiscard]] stored_run find(const std::string& wanted) const;

  /// The text of the result file.
  [[nodiscard]] std::string document(const stored_run& run) const;

  void remove(const std::vector<stored_run>& runs);

  /// The times of all checks, in the order of their names.
  [[nodiscard]] std::vector<stored_series> series() const;

 private:
  void require_version();
  template <typename Action>
  auto guarded(const Action& action) const -> decltype(action());

  std::filesystem::path file_;
  std::unique_ptr<SQLite::Database> database_;
};

}  // namespace assay
