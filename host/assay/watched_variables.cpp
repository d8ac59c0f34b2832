// SPDX-License-Identifier: Apache-2.0
#include "watched_variables.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <set>

#include "host/common/plugin_files.hpp"
#include "host/common/toml.hpp"
#include "host/common/variable_pattern.hpp"
#include "host/platform/platform.hpp"

namespace assay {

namespace {

/// The head alone: a rule file is long, and a run that finds nothing wrong reads no rules.
std::string head_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string head;
  for (std::string line; std::getline(in, line) && !line.starts_with("[[");) {
    head += line + "\n";
  }
  return head;
}

bool is_secret(std::string_view name) {
  static constexpr std::array<std::string_view, 6> words{"TOKEN",  "SECRET",      "PASSWORD",
                                                         "PASSWD", "CREDENTIALS", "KEY"};
  while (!name.empty()) {
    const std::string_view word = name.substr(0, name.find('_'));
    if (std::find(words.begin(), words.end(), word) != words.end()) {
      return true;
    }
    name.remove_prefix(std::min(word.size() + 1, name.size()));
  }
  return false;
}

}  // namespace

std::vector<std::string> variables_named_in(std::string_view text) {
  std::vector<std::string> names;
  try {
    const toml::table root = parse_toml(text);
    if (const toml::array* list = root["pack"]["environment"].as_array()) {
      for (const toml::node& one : *list) {
        if (const auto name = one.value<std::string>(); name && is_variable_pattern(*name)) {
          names.push_back(*name);
        }
      }
    }
  } catch (const std::exception&) {
    return {};
  }
  return names;
}

std::vector<std::string> watched_variables(const std::vector<surveyed_file>& files,
                                           bool trust_everything) {
  std::set<std::string> names;
  for (const surveyed_file& one : files) {
    if (!named_like_a_toml_plugin(one.file) || !one.status.empty()) {
      continue;
    }
    std::vector<std::string> named = variables_named_in(head_of(one.file));
    if (!named.empty() && (trust_everything || !platform::others_may_write(one.file))) {
      names.insert(std::make_move_iterator(named.begin()), std::make_move_iterator(named.end()));
    }
  }
  return {names.begin(), names.end()};
}

std::map<std::string, std::string> watched_in(const std::map<std::string, std::string>& variables,
                                              const std::vector<std::string>& watched) {
  std::map<std::string, std::string> found;
  for (const auto& [name, value] : variables) {
    const std::string_view text = name;
    if (std::any_of(watched.begin(), watched.end(),
                    [&](const std::string& pattern) { return matches_variable(pattern, text); })) {
      found.emplace(name, is_secret(name) ? "<hidden>" : value);
    }
  }
  return found;
}

}  // namespace assay
