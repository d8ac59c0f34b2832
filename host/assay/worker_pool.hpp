// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "plugin_survey.hpp"
#include "supervisor.hpp"
#include "worker_process.hpp"

namespace assay {

/// An interrupt arrived while something was waited for.
class interrupted_error : public std::exception {};

/// Starts workers that are ready to run checks: one after the other, each with the same plugins
/// and engine. A plugin that takes its worker down while it is loaded is left out of the next.
class worker_pool {
 public:
  worker_pool(const installation& here, const run_options& options,
              const std::optional<engine_choice>& engine);

  /// A fresh worker that has loaded its plugins and engine. Throws tool_error when none gets that
  /// far, interrupted_error on an interrupt. `found` is what that worker's plugins are. `changes`
  /// are made to this worker's environment alone.
  std::unique_ptr<worker_process> start(const environment_changes& changes = {});

  /// For files that live as long as this; each worker's number in their name keeps them apart.
  [[nodiscard]] const std::filesystem::path& scratch() const { return scratch_.path(); }

  [[nodiscard]] const catalogue& found() const { return found_; }
  [[nodiscard]] const plugin_survey& survey() const { return survey_; }
  /// The worker's `engine` record, with what it printed until then as `stderr`.
  [[nodiscard]] const nlohmann::json& engine_record() const { return engine_record_; }
  /// Threads that were there when all plugins were loaded and not before; null where that is not
  /// known, as beside a LibTorch that was opened meanwhile.
  [[nodiscard]] const nlohmann::json& extra_threads() const { return extra_threads_; }

 private:
  enum class outcome { ready, plugin_fault, early_fault, engine_fault };
  outcome set_up(worker_process& worker);
  void blame(worker_process& worker, const std::string& file, const std::string& what);
  [[nodiscard]] bool is_pinned(const nlohmann::json& plugin);
  [[nodiscard]] bool wants_backend() const;
  [[nodiscard]] nlohmann::json setup_command(const worker_process& worker) const;

  const installation& here_;
  const run_options& options_;
  const std::optional<engine_choice>& engine_;
  scratch_folder scratch_;
  int started_ = 0;
  bool overlap_ = true;
  plugin_survey survey_;
  std::vector<nlohmann::json> excluded_;  // as `setup` has them
  catalogue found_;
  nlohmann::json engine_record_;
  nlohmann::json extra_threads_;
};

/// The command that a worker gets first: it loads these plugins (files and folders), and no engine.
nlohmann::json setup_command(const worker_process& worker, nlohmann::json plugins,
                             const run_options& options);

/// "SIGSEGV", "exit status 1": how a worker ended, for a sentence.
std::string in_words(const platform::ending& ending);

/// The last line of a text that holds more than blanks; "" when there is none.
std::string last_line(const std::string& text);

}  // namespace assay
