// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "examine.hpp"
#include "host/assay/collected_run.hpp"
#include "host/assay/plugin_survey.hpp"
#include "host/assay/rule_files.hpp"
#include "host/common/nearest.hpp"

namespace assay::conformance {

namespace {

using nlohmann::json;
namespace fs = std::filesystem;

void dangling(examined_file& one, const std::string& subject, const std::string& what,
              const char* why, const std::string& advice) {
  one.add(level::warning, "rule-reference", subject, what, why, advice);
}

std::set<std::string> ids_of(const std::vector<json>& plugins, const char* member) {
  std::set<std::string> ids;
  for (const json& plugin : plugins) {
    for (const json& tool : list_of(plugin, member)) {
      ids.insert(text_of(tool, "id"));
    }
  }
  return ids;
}

/// The fewest characters by which one of the rule's ways to hold is recognised.
std::size_t least_text(const rule& r, const knowledge& known) {
  std::size_t length = 0;
  for (const std::size_t position : r.all) {
    length += known.patterns[position].literal_length;
  }
  std::size_t any = r.any.empty() ? 0 : std::string::npos;
  for (const std::size_t position : r.any) {
    any = std::min(any, known.patterns[position].literal_length);
  }
  return length + any;
}

bool has_condition(const rule& r) {
  return !r.status.empty() || !r.end.empty() || !r.phase.empty() || !r.operators.empty() ||
         !r.environment.empty();
}

void look_at_tokens(examined_file& one, const knowledge& mine) {
  constexpr std::size_t least = 6;
  for (const rule& r : mine.rules) {
    const std::size_t length = least_text(r, mine);
    if ((!r.all.empty() || !r.any.empty()) && length < least && !has_condition(r)) {
      one.add(level::warning, "rule-token", r.name,
              fmt::format("it holds where {} characters occur, and nothing else is asked", length),
              "so short a text stands in logs of other programs too",
              "take more of what the program always prints, or a second token with `all`");
    }
  }
}

void look_at_references(examined_file& one, const knowledge& mine, const knowledge& all,
                        const std::vector<json>& plugins) {
  const std::set<std::string> probes = ids_of(plugins, "probes");
  const std::set<std::string> classifiers = ids_of(plugins, "classifiers");
  std::vector<std::string> codes;
  for (const auto& [code, entry] : all.entries) {
    codes.push_back(code);
  }
  for (const rule& r : mine.rules) {
    if (!r.probe.empty() && !probes.contains(r.probe)) {
      dangling(one, r.name,
               fmt::format("it names the probe {}, which no plugin has{}", r.probe,
                           did_you_mean(r.probe, probes)),
               "it is never confirmed and never refuted",
               "mend the name, or check the folder that holds the probe's plugin too");
    }
  }
  for (const auto& [code, entry] : mine.entries) {
    for (const std::string& other : entry.explains) {
      if (all.find(other) == nullptr) {
        dangling(one, code,
                 fmt::format("it explains {}, which no rule file has{}", other,
                             did_you_mean(other, codes)),
                 "the consequence is shown as a reason of its own", "mend the code");
      }
    }
  }
  for (const known_classifier& classifier : mine.classifiers) {
    const fs::path file = plugin_file(classifier.plugin);
    std::error_code error;
    if (!fs::exists(file, error)) {
      dangling(
          one, classifier.id,
          fmt::format("its plugin {} does not lie beside the rule file", file.filename().string()),
          "the classifier is never asked", "put both files into one folder");
    } else if (!classifiers.contains(classifier.id)) {
      dangling(
          one, classifier.id,
          fmt::format("no plugin has this classifier{}", did_you_mean(classifier.id, classifiers)),
          "it is never asked", "mend the name");
    }
  }
}

}  // namespace

std::vector<fs::path> other_rule_files(const std::vector<examined_file>& files,
                                       const installation& here, const run_options& options) {
  const knowledge installed = read_knowledge(plugin_places(here, options), options.trust_plugins);
  std::set<std::string> examined;
  for (const examined_file& one : files) {
    examined.insert(one.id);
  }
  std::vector<fs::path> others;
  for (const rule_pack& pack : installed.packs) {
    if (pack.refused.empty() && !examined.contains(pack.id)) {
      others.push_back(pack.file);
    }
  }
  return others;
}

void examine_rules(examined_file& one, const std::vector<fs::path>& before,
                   const std::vector<fs::path>& behind, const std::vector<json>& plugins,
                   bool trust_everything) {
  const knowledge mine = read_knowledge({one.file}, trust_everything);
  // Of two files with one code the second is refused.
  std::vector<fs::path> places = before;
  places.push_back(one.file);
  places.insert(places.end(), behind.begin(), behind.end());
  const knowledge all = read_knowledge(places, trust_everything);
  if (mine.packs.empty()) {
    return;  // an op pack without rules
  }
  std::string refused = mine.packs.back().refused;
  for (const rule_pack& pack : all.packs) {
    refused = refused.empty() && pack.file == one.file ? pack.refused : refused;
  }
  if (!refused.empty()) {
    one.add(level::error, "refused", "", "assay refuses it: " + printable(refused),
            "nothing of it is ever used", "mend that and check it again");
    return;
  }
  look_at_tokens(one, mine);
  look_at_references(one, mine, all, plugins);
}

}  // namespace assay::conformance
