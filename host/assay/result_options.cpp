// SPDX-License-Identifier: Apache-2.0
//
// The arguments of the subcommands that read runs and run nothing.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "errors.hpp"
#include "host/common/nearest.hpp"
#include "make_options.hpp"
#include "option_sources.hpp"
#include "options.hpp"

namespace assay {

namespace {

std::string one_form(const given_arguments& given, const char* of, const char* otherwise) {
  if (given.flags.size() > 1) {
    throw usage_error(fmt::format("--{} and --{}: a {} has one form; leave one of them out",
                                  given.flags[0], given.flags[1], of));
  }
  return given.flags.empty() ? otherwise : given.flags.front();
}

std::filesystem::path result_or_kept_run(const std::string& word, const environment& world) {
  return word.starts_with(kept_run_prefix) ? std::filesystem::path(word) : world.current_dir / word;
}

struct baseline_action {
  std::string_view name;
  std::size_t fewest, most;  // words behind it
  std::string_view needs;
};

constexpr std::size_t any_number = 1000;
constexpr std::array<baseline_action, 5> baseline_actions{{
    {"list", 0, 0, "nothing"},
    {"show", 1, 1, "a NAME"},
    {"remove", 1, any_number, "at least one NAME"},
    {"export", 2, 2, "a NAME and a FILE"},
    {"import", 2, 2, "a FILE and a NAME"},
}};

const baseline_action& action_of(const std::vector<std::string>& words) {
  std::vector<std::string_view> names;
  for (const baseline_action& action : baseline_actions) {
    names.push_back(action.name);
  }
  if (words.empty()) {
    throw usage_error(fmt::format("assay baseline needs one of {}", fmt::join(names, ", ")));
  }
  const auto found = std::find(names.begin(), names.end(), words.front());
  if (found == names.end()) {
    throw usage_error(fmt::format("assay baseline: '{}' is none of {}{}", words.front(),
                                  fmt::join(names, ", "), did_you_mean(words.front(), names)));
  }
  const baseline_action& action = baseline_actions[static_cast<std::size_t>(found - names.begin())];
  const std::size_t count = words.size() - 1;
  if (count < action.fewest || count > action.most) {
    throw usage_error(fmt::format("assay baseline {} takes {}, and got {} word{}", action.name,
                                  action.needs, count, count == 1 ? "" : "s"));
  }
  return action;
}

}  // namespace

compare_request parse_compare_options(const std::vector<std::string>& arguments,
                                      const environment& world) {
  const given_arguments given = read_arguments(arguments, subcommand::compare, world);
  compare_request request;
  request.options = make_options(read_all_sources(given.options, world), subcommand::compare);
  request.form = one_form(given, "comparison", "text");
  run_options& options = request.options;
  const bool named = !options.old_results.empty() || !options.new_results.empty();
  if (named && !given.words.empty()) {
    throw usage_error(
        fmt::format("'{}' stands beside --old or --new; name all files in one of the two ways",
                    given.words.front()));
  }
  if (!named) {
    if (given.words.size() != 2) {
      throw usage_error(fmt::format(
          "assay compare takes two result files or folders, OLD and NEW, and got {}; several of a "
          "side: --old FILE --old FILE --new FILE",
          given.words.size()));
    }
    options.old_results = {result_or_kept_run(given.words[0], world)};
    options.new_results = {result_or_kept_run(given.words[1], world)};
  }
  if (options.old_results.empty() || options.new_results.empty()) {
    throw usage_error(fmt::format("there is no --{}; a comparison needs both sides",
                                  options.old_results.empty() ? "old" : "new"));
  }
  return request;
}

baseline_request parse_baseline_options(const std::vector<std::string>& arguments,
                                        const environment& world) {
  const given_arguments given = read_arguments(arguments, subcommand::baseline, world);
  baseline_request request;
  request.options = make_options(read_all_sources(given.options, world), subcommand::baseline);
  const baseline_action& action = action_of(given.words);
  request.action = action.name;
  request.names.assign(given.words.begin() + 1, given.words.end());
  request.json = given.has("json");
  if (request.json && request.action != "list") {
    throw usage_error(
        "--json is of assay baseline list; assay baseline export gives the records "
        "of one run");
  }
  const auto file_at = [&](std::size_t place) {
    const std::string word = request.names[place];
    request.names.erase(request.names.begin() + static_cast<std::ptrdiff_t>(place));
    request.file = word == "-" ? std::filesystem::path("-") : world.current_dir / word;
  };
  if (request.action == "export") {
    file_at(1);
  } else if (request.action == "import") {
    file_at(0);
  }
  return request;
}

history_request parse_history_options(const std::vector<std::string>& arguments,
                                      const environment& world) {
  const given_arguments given = read_arguments(arguments, subcommand::history, world);
  history_request request;
  request.options = make_options(read_all_sources(given.options, world), subcommand::history);
  request.globs = given.words;
  request.csv = given.has("csv");
  if (const auto name = given.options.find("name"); name != given.options.end()) {
    request.name = name->second.texts.front();
  }
  return request;
}

report_request parse_report_options(const std::vector<std::string>& arguments,
                                    const environment& world) {
  const given_arguments given = read_arguments(arguments, subcommand::report, world);
  report_request request;
  request.options = make_options(read_all_sources(given.options, world), subcommand::report);
  if (given.words.size() != 1) {
    throw usage_error(
        fmt::format("assay report takes one result file, and got {}; assay run "
                    "--json FILE writes one",
                    given.words.size()));
  }
  request.form = one_form(given, "report", "text");
  request.file = world.current_dir / given.words.front();
  return request;
}

}  // namespace assay
