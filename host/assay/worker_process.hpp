// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "host/platform/platform.hpp"

namespace assay {

/// Variables that a process gets beside those of this one; no value: it does not get it.
using environment_changes = std::map<std::string, std::optional<std::string>>;

/// A folder of our own for captured output, removed at the end.
class scratch_folder {
 public:
  scratch_folder();
  ~scratch_folder();
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// One assay-worker: its channels, its captured output, its end. Used from one thread.
class worker_process {
 public:
  using clock = std::chrono::steady_clock;

  /// Starts the program, behind the words of `prefix`. `library_dirs` go in front of the system's
  /// library path, `changes` are made to its environment alone. Throws tool_error.
  worker_process(const std::filesystem::path& program, const std::filesystem::path& scratch,
                 int ordinal, const std::vector<std::filesystem::path>& library_dirs,
                 const std::vector<std::string>& prefix = {},
                 const environment_changes& changes = {});
  ~worker_process();  // ends it and its descendants if it still runs
  worker_process(const worker_process&) = delete;
  worker_process& operator=(const worker_process&) = delete;

  [[nodiscard]] int ordinal() const { return ordinal_; }
  [[nodiscard]] std::filesystem::path stdout_file() const;
  [[nodiscard]] std::filesystem::path stderr_file() const;

  /// A worker that is gone is noticed by next().
  void send(const nlohmann::json& command);

  /// A deadline for next().
  static clock::time_point seconds_from_now(double seconds);

  enum class event { record, ended, timeout, flood, interrupted };
  struct happening {
    event what;
    nlohmann::json record;
  };
  /// The next record, or what happened instead of one. `flood`: since the last command the worker
  /// printed more than output_limit_bytes.
  happening next(clock::time_point deadline);

  /// Asks it to quit, and sees to it that it is gone.
  void quit();
  /// Ends it for good: politely first when `grace` is above 0, then not.
  void end(std::chrono::milliseconds grace);
  /// How it ended; only after end(), quit(), or an event `ended`.
  [[nodiscard]] platform::ending ending();
  [[nodiscard]] bool had_to_be_killed() const { return killed_; }

  /// How much it has printed so far.
  struct printed {
    std::uintmax_t out_bytes = 0;
    std::uintmax_t err_bytes = 0;
  };
  [[nodiscard]] printed output_so_far() const;

  /// What it printed between two moments, the middle left out where it is long, control characters
  /// replaced.
  [[nodiscard]] std::string stdout_between(const printed& from, const printed& to) const;
  [[nodiscard]] std::string stderr_between(const printed& from, const printed& to) const;

  static constexpr std::uintmax_t output_limit_bytes = std::uintmax_t{256} << 20;

 private:
  struct running;

  int ordinal_;
  std::filesystem::path scratch_;
  std::unique_ptr<running> process_;
  printed at_command_;
  bool ended_ = false;
  bool killed_ = false;
};

/// Bytes [begin, end) of a file as readable text: at most 64 KiB, of which the last 48 where it is
/// longer.
std::string excerpt(const std::filesystem::path& file, std::uintmax_t begin, std::uintmax_t end);

}  // namespace assay
