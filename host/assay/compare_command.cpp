// SPDX-License-Identifier: Apache-2.0
#include "compare_command.hpp"

#include <fmt/format.h>

#include <charconv>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "baseline_command.hpp"
#include "errors.hpp"
#include "host/common/nearest.hpp"
#include "make_options.hpp"
#include "redaction.hpp"

namespace assay {

namespace {

std::vector<saved_run> read_all(const std::vector<std::filesystem::path>& named,
                                const run_options& options) {
  std::vector<saved_run> runs;
  for (const std::filesystem::path& one : named) {
    const std::string word = one.string();
    if (word.starts_with(kept_run_prefix)) {
      const run_store store(options.store, run_store::access::reading);
      runs.push_back(read_kept_run(store, store.find(word.substr(kept_run_prefix.size()))));
      continue;
    }
    for (const std::filesystem::path& file : result_files({one})) {
      runs.push_back(read_saved_run(file.lexically_normal()));
    }
  }
  return runs;
}

double percent_of(const std::string& word) {
  constexpr std::string_view begin = "slower=";
  std::string_view text = std::string_view(word).substr(begin.size());
  if (text.ends_with('%')) {
    text.remove_suffix(1);
  }
  double percent = 0.0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), percent);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || percent < 1.0 ||
      percent > 1000.0) {
    throw usage_error(fmt::format(
        "--fail-on: '{}' is no threshold; it reads like slower=5%, from 1 to 1000", word));
  }
  return percent;
}

}  // namespace

regression_rules parse_fail_on(const std::vector<std::string>& words) {
  regression_rules rules;
  if (words.empty()) {
    return rules;
  }
  rules.error = rules.fallback = rules.path = rules.correctness = false;
  rules.slower_percent.reset();
  for (const std::string& word : words) {
    if (word == "error") {
      rules.error = true;
    } else if (word == "fallback") {
      rules.fallback = true;
    } else if (word == "path") {
      rules.path = true;
    } else if (word == "correctness") {
      rules.correctness = true;
    } else if (word.starts_with("slower=")) {
      rules.slower_percent = percent_of(word);
    } else if (word == "none") {
      if (words.size() > 1) {
        throw usage_error("--fail-on: 'none' stands alone; leave it or the others out");
      }
    } else {
      const std::vector<std::string> known{"error",       "fallback",  "path",
                                           "correctness", "slower=5%", "none"};
      throw usage_error(fmt::format("--fail-on: '{}' is none of {}{}", word, fmt::join(known, ", "),
                                    did_you_mean(word, known)));
    }
  }
  return rules;
}

regression_rules rules_of(const run_options& options) {
  regression_rules rules = parse_fail_on(options.fail_on);
  rules.across_devices = options.across_devices;
  return rules;
}

int compare_command(const compare_request& request, report_paper& paper) {
  const regression_rules rules = rules_of(request.options);
  comparison found;
  try {
    const auto before = read_all(request.options.old_results, request.options);
    found = compare(before, read_all(request.options.new_results, request.options), rules);
  } catch (const results_error& error) {
    throw usage_error(error.what());
  } catch (const store_error& error) {
    throw usage_error(error.what());
  }
  if (request.form == "json") {
    paper.line(comparison_as_json(found, rules)
                   .dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  } else if (request.form == "markdown") {
    paper.out() << redaction::of_this_machine().of(comparison_as_markdown(found, rules))
                << std::flush;
  } else if (request.form == "junit") {
    paper.out() << comparison_as_junit(found, rules) << std::flush;
  } else {
    print_comparison(paper, found, rules);
  }
  return found.regression ? exit_status::regression : exit_status::ok;
}

}  // namespace assay
