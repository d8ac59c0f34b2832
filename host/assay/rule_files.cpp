// SPDX-License-Identifier: Apache-2.0
#include "rule_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "collected_run.hpp"
#include "host/common/plugin_files.hpp"
#include "host/diagnosis/diagnose.hpp"
#include "plugin_survey.hpp"

namespace assay {

namespace {

using nlohmann::json;

knowledge read_all(const installation& here, const run_options& options, bool with_hashes) {
  const plugin_judge judge(options);
  judge_of_packs look;
  if (with_hashes || judge.has_an_opinion()) {
    look = [&judge](const std::filesystem::path& file) {
      const surveyed_file seen = judge.look_at(file);
      rule_pack pack;
      pack.id = seen.who.id;
      pack.version = seen.version;
      pack.vendor = seen.who.vendor;
      pack.sha256 = seen.sha256;
      (seen.status == "off" ? pack.off : pack.refused) = seen.reason;
      return pack;
    };
  }
  return read_knowledge(plugin_places(here, options), options.trust_plugins, look);
}

std::string steps_as_markdown(const char* platform, const std::vector<std::string>& steps) {
  if (steps.empty()) {
    return "";
  }
  std::string text = fmt::format("- {}:\n", platform);
  for (const std::string& step : steps) {
    text += step.starts_with("$ ") ? fmt::format("  - `{}`\n", step.substr(2))
                                   : fmt::format("  - {}\n", step);
  }
  return text;
}

}  // namespace

knowledge rule_knowledge(const installation& here, const run_options& options,
                         std::ostream& complaints) {
  knowledge known = read_all(here, options, false);
  for (const rule_pack& pack : known.packs) {
    if (!pack.refused.empty()) {
      complaints << fmt::format("assay: the rule file {} is not used: {}\n", pack.file.string(),
                                pack.refused);
    }
  }
  for (const std::string& line : known.loose_ends()) {
    complaints << "assay: " << line << '\n';
  }
  return known;
}

std::vector<json> list_rule_files(const installation& here, const run_options& options,
                                  const std::vector<json>& plugins, std::ostream& complaints) {
  std::vector<json> records;
  const knowledge known = read_all(here, options, true);
  for (const std::string& line : rules_without_probe(known, plugins)) {
    complaints << "assay: " << line << '\n';
  }
  for (const rule_pack& pack : known.packs) {
    records.push_back({{"record", "rule_file"},
                       {"file", pack.file.string()},
                       {"status", !pack.off.empty()      ? "off"
                                  : pack.refused.empty() ? "read"
                                                         : "refused"},
                       {"reason", pack.off + pack.refused},
                       {"sha256", pack.sha256},
                       {"id", pack.id},
                       {"version", pack.version},
                       {"vendor", pack.vendor},
                       {"diagnoses", pack.entry_count},
                       {"rules", pack.rule_count}});
  }
  return records;
}

std::string catalogue_as_markdown(const knowledge& known) {
  std::string text =
      "# Diagnoses\n\n"
      "Written by `assay explain --catalogue`; a test compares the two. The entries stand in the\n"
      "rule files of the diagnostic plugins (plugins/diag_*/rules), whose format is described in\n"
      "[writing-a-diagnostic-plugin.md](writing-a-diagnostic-plugin.md). A code is never reused,\n"
      "renamed or removed.\n";
  std::string pack;
  std::vector<const catalogue_entry*> entries;
  for (const auto& [code, entry] : known.entries) {
    entries.push_back(&entry);
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto* a, const auto* b) { return a->pack < b->pack; });
  for (const catalogue_entry* e : entries) {
    if (e->pack != pack) {
      pack = e->pack;
      text += fmt::format("\n## {}\n", pack);
    }
    text += fmt::format("\n### {}\n\n**{}** ({}, {}; class `{}`; since {})\n\n{}\n\n", e->code,
                        e->title, name_of(e->severity), e->category, e->klass, e->since, e->cause);
    text += steps_as_markdown("Everywhere", e->advice.any);
    const bool same = e->advice.on_wsl == e->advice.on_linux;
    text += steps_as_markdown(same ? "Linux, WSL" : "Linux", e->advice.on_linux);
    text += same ? "" : steps_as_markdown("WSL", e->advice.on_wsl);
    text += steps_as_markdown("Windows", e->advice.on_windows);
    if (!e->explains.empty()) {
      text += fmt::format("- Explains: {}\n", fmt::join(e->explains, ", "));
    }
    for (const std::string& reference : e->references) {
      text += fmt::format("- See {}\n", reference);
    }
  }
  return text;
}

json catalogue_as_json(const knowledge& known) {
  json list = json::array();
  for (const auto& [code, e] : known.entries) {
    list.push_back({{"code", code},
                    {"class", e.klass},
                    {"title", e.title},
                    {"category", e.category},
                    {"severity", name_of(e.severity)},
                    {"since", e.since},
                    {"cause", e.cause},
                    {"advice", to_json(e.advice)},
                    {"references", e.references},
                    {"explains", e.explains},
                    {"pack", e.pack}});
  }
  return {{"diagnoses", std::move(list)}};
}

std::vector<std::string> rules_without_probe(const knowledge& known,
                                             const std::vector<json>& plugins) {
  std::set<std::string> probes;
  for (const json& plugin : plugins) {
    for (const json& probe : list_of(plugin, "probes")) {
      probes.insert(text_of(probe, "id"));
    }
  }
  return known.loose_ends(probes);
}

std::filesystem::path plugin_file(const std::filesystem::path& bare) {
  std::filesystem::path file = bare;
  file += plugin_suffix();
  return file;
}

}  // namespace assay
