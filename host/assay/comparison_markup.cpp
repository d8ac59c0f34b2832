// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "compare_command.hpp"
#include "markup.hpp"

namespace assay {

namespace {

struct section {
  std::string title, head;
  std::vector<std::string> rows;
};

std::string change_text(const check_change& change) {
  if (change.before.empty() || change.after.empty()) {
    return change.before + change.after;
  }
  return change.before + " -> " + change.after;
}

std::string time_text(const time_change& change) {
  return fmt::format("{} -> {} us {} ({:+.0f} %)", microseconds(change.before_us),
                     microseconds(change.after_us), change.of_device ? "device" : "wall",
                     (change.ratio - 1.0) * 100.0);
}

section of_checks(const char* title, const std::vector<check_change>& changes) {
  section made{title, "| check | device | change |\n|---|---|---|\n", {}};
  for (const check_change& change : changes) {
    made.rows.push_back(fmt::format("| {} | {} | {} |\n", markdown_cell(change.id),
                                    markdown_cell(change.device),
                                    markdown_cell(change_text(change))));
  }
  return made;
}

section of_links(const char* title, const std::vector<link_change>& changes, bool regressions) {
  section made{title, "| check | device | link | before | after |\n|---|---|---|---|---|\n", {}};
  for (const link_change& change : changes) {
    if (change.regression == regressions) {
      made.rows.push_back(fmt::format("| {} | {} | {} | {} | {} |\n", markdown_cell(change.id),
                                      markdown_cell(change.device), markdown_cell(change.link),
                                      markdown_cell(change.before), markdown_cell(change.after)));
    }
  }
  return made;
}

section of_times(const char* title, const std::vector<time_change>& changes) {
  section made{title, "| check | device | time per call | p |\n|---|---|---|---|\n", {}};
  for (const time_change& change : changes) {
    made.rows.push_back(fmt::format("| {} | {} | {} | {} |\n", markdown_cell(change.id),
                                    markdown_cell(change.device), markdown_cell(time_text(change)),
                                    change.p < 1.0 ? fmt::format("{:.1g}", change.p) : "-"));
  }
  return made;
}

std::string environment_block(const comparison& found) {
  if (found.environment.empty()) {
    return "Environment: nothing changed, as far as the files tell.\n\n";
  }
  std::string table = "| | before | after |\n|---|---|---|\n";
  const auto said = [](const std::string& text) {
    return text.empty() ? std::string("-") : markdown_cell(text);
  };
  for (const environment_change& change : found.environment) {
    table += fmt::format("| {} | {} | {} |\n", markdown_cell(change.name), said(change.before),
                         said(change.after));
  }
  return markdown_folded(fmt::format("Environment: {} changes", found.environment.size()), table);
}

struct test_case {
  std::string failure, text;
};

}  // namespace

std::string comparison_as_markdown(const comparison& found, const regression_rules& rules,
                                   std::size_t most_bytes) {
  const std::vector<section> sections{
      of_checks("Newly failing", found.broken),
      of_checks("No longer run", found.no_longer_run),
      of_checks("Vanished", found.vanished),
      of_links("The chain became worse", found.links, true),
      of_times("Slower", found.slower),
      of_checks("Still failing", found.still_failing),
      of_checks("Mended", found.mended),
      of_links("Other changes of the chain", found.links, false),
      of_times("Faster", found.faster),
      of_times("Slower at first, not when measured again", found.not_confirmed),
      of_times("Perhaps slower: too few samples to tell", found.suspicious),
      of_checks("New checks", found.appeared)};
  std::string text = fmt::format("### assay compare: {}\n\n{}\n\n",
                                 found.regression ? "regression" : "no regression",
                                 markdown_cell(last_line(found)));
  text += environment_block(found);
  for (const std::string& remark : found.remarks) {
    text += fmt::format("- {}\n", markdown_cell(remark));
  }
  std::string end = "\n";
  for (const std::string& line : how_times_were_judged(found, rules)) {
    end += fmt::format("- {}\n", markdown_cell(line));
  }
  constexpr std::size_t for_the_last_word = 100;
  const std::size_t room = most_bytes - std::min(most_bytes, end.size() + for_the_last_word);
  std::size_t left_out = 0;
  for (const section& one : sections) {
    std::string opening = fmt::format("\n**{}** ({})\n\n{}", one.title, one.rows.size(), one.head);
    for (const std::string& row : one.rows) {
      if (left_out > 0 || text.size() + opening.size() + row.size() > room) {
        ++left_out;
        continue;
      }
      text += opening + row;
      opening.clear();
    }
  }
  text += end;
  if (left_out > 0) {
    text += fmt::format("\n{} lines were left out to fit; assay compare shows all.\n", left_out);
  }
  return text;
}

std::string comparison_as_junit(const comparison& found, const regression_rules& rules) {
  std::map<std::string, test_case> cases;
  const auto note = [&](const std::string& id, const std::string& device, const std::string& what,
                        bool failure) {
    test_case& one = cases[fmt::format("{} on {}", id, device)];
    std::string& to = failure ? one.failure : one.text;
    to += (to.empty() ? "" : "\n") + what;
  };
  const auto note_checks = [&](const char* title, const std::vector<check_change>& changes,
                               bool failure) {
    for (const check_change& change : changes) {
      note(change.id, change.device, fmt::format("{}: {}", title, change_text(change)), failure);
    }
  };
  note_checks("newly failing", found.broken, rules.error);
  note_checks("no longer run", found.no_longer_run, rules.error);
  note_checks("vanished", found.vanished, rules.error);
  note_checks("still failing", found.still_failing, false);
  note_checks("mended", found.mended, false);
  note_checks("new", found.appeared, false);
  for (const link_change& change : found.links) {
    note(change.id, change.device,
         fmt::format("{}: {} -> {}", change.link, change.before, change.after), change.regression);
  }
  const auto note_times = [&](const char* title, const std::vector<time_change>& changes,
                              bool failure) {
    for (const time_change& change : changes) {
      note(change.id, change.device, fmt::format("{}: {}", title, time_text(change)), failure);
    }
  };
  note_times("slower", found.slower, rules.slower_percent.has_value());
  note_times("faster", found.faster, false);
  note_times("slower at first, not when measured again", found.not_confirmed, false);
  note_times("perhaps slower", found.suspicious, false);
  std::string all_together;
  if (all_became_slower(found, rules)) {
    all_together = fmt::format("times x {:.3f} (median of all checks)", *found.common_ratio);
  }
  note("all checks together", "all devices", all_together.empty() ? last_line(found) : all_together,
       !all_together.empty());

  std::string body;
  std::size_t failures = 0;
  for (const auto& [name, one] : cases) {
    body += fmt::format("    <testcase classname=\"compare\" name=\"{}\" time=\"0.000\">\n",
                        xml_attribute(name));
    if (!one.failure.empty()) {
      ++failures;
      body += fmt::format("      <failure message=\"{}\" type=\"regression\">{}</failure>\n",
                          xml_attribute(one.failure.substr(0, one.failure.find('\n'))),
                          xml_text(one.failure));
    }
    if (!one.text.empty()) {
      body += fmt::format("      <system-out>{}</system-out>\n", xml_text(one.text));
    }
    body += "    </testcase>\n";
  }
  const std::string counts =
      fmt::format("tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"0\" time=\"0.000\"",
                  cases.size(), failures);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"assay\" {0}>\n"
      "  <testsuite name=\"compare\" {0}>\n{1}  </testsuite>\n</testsuites>\n",
      counts, body);
}

}  // namespace assay
