// SPDX-License-Identifier: Apache-2.0
//
// The one list of options: names, forms, which subcommand knows them, and whether ./assay.ini may
// say them. Command line, environment, configuration files and help are all made from it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay {

enum class subcommand {
  run,
  list,
  show,
  selftest,
  explain,
  doctor,
  compare,
  baseline,
  history,
  report,
  check_plugin,
  new_plugin
};

enum class option_form { text, list, path, path_list, flag };

struct option_spec {
  std::string_view name;      // "plugin-dir"
  std::string_view argument;  // "DIR"; "" for a flag
  option_form form;
  unsigned commands;     // those that know it: bits, 1 << subcommand
  bool project_may_set;  // ./assay.ini may have been written by a stranger
  std::string_view help;
};

const std::vector<option_spec>& option_table();

/// The table's entry, or null.
const option_spec* find_option(std::string_view name);

bool known_to(const option_spec& spec, subcommand command);

/// A flag, or with `argument` an option, of one subcommand alone: no variable and no configuration
/// says it.
struct own_flag {
  subcommand command;
  std::string_view name, help;
  std::string_view argument{};
};
const std::vector<own_flag>& own_flags();

/// The subcommands with their names, in the order of the help.
struct named_subcommand {
  subcommand command;
  std::string_view name, summary;
};
const std::vector<named_subcommand>& subcommands();

/// "plugin-dir" -> "ASSAY_PLUGIN_DIR".
std::string variable_name(std::string_view option_name);

/// `assay <command> --help`.
std::string help_text(subcommand command);

}  // namespace assay
