// SPDX-License-Identifier: Apache-2.0
//
// The plugin files of this run, looked at before any of them is opened: what each says of itself,
// its SHA-256, and whether it may be opened at all.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "plugins_lock.hpp"
#include "selection.hpp"
#include "supervisor.hpp"

namespace assay {

struct surveyed_file {
  std::filesystem::path file;
  plugin_identity who;  // members are "" where it does not say
  std::string version, abi;
  std::string sha256;  // "" when it cannot be read
  std::string status;  // "off" and "refused": it is not opened; "": it may be
  std::string reason;  // why not
};

/// The folders in which plugins lie, in the order in which they are searched: the built-in one, the
/// user's own, those of --plugin-dir. Only those that there are.
std::vector<std::filesystem::path> plugin_places(const installation& here,
                                                 const run_options& options);

/// Judges one file at a time.
class plugin_judge {
 public:
  /// Throws usage_error for a lock that cannot be read.
  explicit plugin_judge(const run_options& options);

  [[nodiscard]] surveyed_file look_at(const std::filesystem::path& file) const;

  /// Whether any file can be found off or refused here.
  [[nodiscard]] bool has_an_opinion() const { return selection_.about_plugins() || lock_; }
  /// What --plugins-lock pins; null without one.
  [[nodiscard]] const plugins_lock* lock() const { return lock_ ? &*lock_ : nullptr; }

 private:
  selection selection_;
  std::optional<plugins_lock> lock_;
};

/// All files of the plugin folders.
class plugin_survey {
 public:
  plugin_survey(const installation& here, const run_options& options);

  [[nodiscard]] const std::vector<std::filesystem::path>& places() const { return places_; }
  [[nodiscard]] const std::vector<surveyed_file>& files() const { return files_; }
  [[nodiscard]] const plugins_lock* lock() const { return judge_.lock(); }

  /// Adds to the worker's record of a plugin what it does not know: SHA-256, and the stamp of one
  /// that was not opened.
  void complete(nlohmann::json& record) const;

  /// Pinned plugins of which there is no file, a line each.
  [[nodiscard]] std::vector<std::string> missing() const;

 private:
  [[nodiscard]] const surveyed_file* find(const std::filesystem::path& file) const;

  plugin_judge judge_;
  std::vector<std::filesystem::path> places_;
  std::vector<surveyed_file> files_;
};

}  // namespace assay
