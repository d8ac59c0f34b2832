// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace assay {

/// Where an option's value came from, in order of precedence.
enum class option_source {
  command_line,
  environment,
  config_file,
  project_config,
  user_config,
  built_in
};

/// What `assay run` was asked to do. Names are those of the options, with _ for -.
struct run_options {
  std::string device = "auto";       // auto, cpu, cuda, cuda:N, hip, hip:N, all
  std::vector<std::string> enable;   // globs; empty: everything
  std::vector<std::string> disable;  // globs
  std::string profile = "classic";   // classic, quick, measure
  std::vector<std::string> dtypes;   // empty: each check's default
  double timeout_s = 120.0;          // per check
  double measure_limit_s = 2.0;      // profile measure: sampling time per check
  std::uint64_t seed = 0;
  unsigned repeat_neighbours = 1;  // checks run again in the fresh worker after a fault
  std::vector<std::filesystem::path> plugin_dirs;  // beside the built-in one
  bool trust_plugins = false;
  std::vector<std::filesystem::path> traces;          // logs of operator calls to be replayed
  std::optional<std::filesystem::path> plugins_lock;  // which plugin files may be opened
  std::optional<std::filesystem::path> write_lock;    // list: where to write one
  /// Values of plugins' options.
  struct assignment {
    std::string plugin, name, value;
    std::string text;  // "norm.eps=1e-6"
  };
  std::vector<assignment> set;
  std::optional<std::filesystem::path> torch_dir;
  std::optional<std::filesystem::path> second_torch_dir;  // run: to be compared with the first
  std::optional<std::filesystem::path> json_file;         // "-": standard output
  std::optional<std::filesystem::path> junit_file;
  std::vector<std::filesystem::path> known_issues;  // files
  bool no_color = false;
  bool list_only = false;
  bool full_environment = false;  // the written files keep user, host and home folders
  bool evidence = true;           // --no-evidence: false
  bool refresh_ceilings = false;
  std::string baseline;        // "cpu", or "": none
  std::string sizes = "auto";  // classic, large, auto
  bool split = false;
  bool trace_libs = false;
  std::optional<std::filesystem::path> chrome_trace_dir;
  std::filesystem::path sysroot = "/";  // doctor: below which probes look
  std::string architecture;             // doctor: of the GPU; "": the machine tells
  std::string platform;                 // explain: linux, wsl, windows, or "": not known
  std::vector<std::filesystem::path> old_results, new_results;  // compare
  std::vector<std::string> fail_on;                             // compare; empty: all
  bool across_devices = false;                                  // compare
  std::string save, against;                                    // names of kept runs; "": none
  std::filesystem::path store;  // where runs are kept; empty: nowhere
  double probe_timeout_s = 5.0;
  std::vector<std::string> probe_prefix;  // command in front of a probe's process
  /// For the result file: option name -> value as text and where it came from.
  struct setting {
    std::string value;
    option_source source = option_source::built_in;
    std::string origin;  // for people: "--torch", "ASSAY_TORCH", "FILE: torch"; "" if built in
  };
  std::map<std::string, setting> settings;
};

}  // namespace assay
