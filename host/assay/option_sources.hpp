// SPDX-License-Identifier: Apache-2.0
//
// Reads the texts of options from each place where they may stand, and puts the layers together.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "option_table.hpp"
#include "options.hpp"

namespace assay {

/// One option as one source gives it: one text, or for a list any number.
struct given_option {
  std::vector<std::string> texts;
  option_source source = option_source::built_in;
  std::string origin;              // "--torch", "ASSAY_TORCH", "/home/me/assay.ini: torch"
  std::filesystem::path base_dir;  // what relative paths are relative to
};

using option_layer = std::map<std::string, given_option, std::less<>>;

struct given_arguments {
  option_layer options;
  std::vector<std::string> words;  // what is neither an option nor an option's value
  std::vector<std::string> flags;  // of the subcommand alone: "json" of assay list
  [[nodiscard]] bool has(std::string_view flag) const;
};

given_arguments read_arguments(const std::vector<std::string>& arguments, subcommand command,
                               const environment& world);

/// The environment, `--config`, ./assay.ini and the user's file below `arguments`: for each option
/// the highest source that gives it.
option_layer read_all_sources(const option_layer& arguments, const environment& world);

}  // namespace assay
