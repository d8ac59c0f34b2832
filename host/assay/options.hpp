// SPDX-License-Identifier: Apache-2.0
//
// From command line, environment and configuration files to run_options. Nothing here needs a
// plugin or LibTorch: whether globs and devices match anything is the supervisor's question.
// Everything throws usage_error. docs/options.md is the reference.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "run_options.hpp"

namespace assay {

/// What the world outside says; given in, so that tests can make one up.
struct environment {
  std::map<std::string, std::string> variables;
  std::filesystem::path current_dir;
  std::filesystem::path user_config_file;  // .../assay/assay.ini; empty: there is no such place
};

struct list_request {
  run_options options;
  bool json = false;
  bool why = false;
};

struct show_request {
  run_options options;
  std::string check;  // "category/name", "category/name[dtype]"; with `toml` also a glob
  bool python = false;
  bool toml = false;
};

struct explain_request {
  run_options options;
  std::filesystem::path file;  // "-": standard input
  bool json = false;
  bool here = false;  // the log is of this machine
  bool catalogue = false;
};

struct doctor_request {
  run_options options;
  bool json = false;
};

struct check_plugin_request {
  run_options options;
  std::vector<std::filesystem::path> places;  // files and folders
  bool strict = false;
  bool json = false;
};

struct new_plugin_request {
  std::string name;
  std::string kind = "ops";   // ops, toml, diagnostic
  std::filesystem::path dir;  // absolute
  std::string vendor;         // "": not said
};

/// `arguments` are those behind the subcommand.
run_options parse_run_options(const std::vector<std::string>& arguments, const environment& world);
/// Of `assay selftest`: those of a run of the planted faults, with a deadline of 10 s a fault.
run_options parse_selftest_options(const std::vector<std::string>& arguments,
                                   const environment& world);
list_request parse_list_options(const std::vector<std::string>& arguments,
                                const environment& world);
show_request parse_show_options(const std::vector<std::string>& arguments,
                                const environment& world);
explain_request parse_explain_options(const std::vector<std::string>& arguments,
                                      const environment& world);
doctor_request parse_doctor_options(const std::vector<std::string>& arguments,
                                    const environment& world);
check_plugin_request parse_check_plugin_options(const std::vector<std::string>& arguments,
                                                const environment& world);
new_plugin_request parse_new_plugin_options(const std::vector<std::string>& arguments,
                                            const environment& world);

struct compare_request {
  run_options options;
  std::string form = "text";  // text, json, markdown, junit
};

/// The arguments behind `assay compare`. Throws usage_error.
compare_request parse_compare_options(const std::vector<std::string>& arguments,
                                      const environment& world);

struct baseline_request {
  run_options options;
  std::string action;  // list, show, remove, export, import
  std::vector<std::string> names;
  std::filesystem::path file;  // export, import; absolute, or "-"
  bool json = false;
};

/// The arguments behind `assay baseline`. Throws usage_error.
baseline_request parse_baseline_options(const std::vector<std::string>& arguments,
                                        const environment& world);

struct history_request {
  run_options options;
  std::vector<std::string> globs;  // of checks; empty: all
  std::string name;                // "": all runs
  bool csv = false;
};

/// The arguments behind `assay history`. Throws usage_error.
history_request parse_history_options(const std::vector<std::string>& arguments,
                                      const environment& world);

struct report_request {
  run_options options;
  std::filesystem::path file;
  std::string form = "text";  // text, markdown, junit, csv, json
};

/// The arguments behind `assay report`. Throws usage_error.
report_request parse_report_options(const std::vector<std::string>& arguments,
                                    const environment& world);

}  // namespace assay
