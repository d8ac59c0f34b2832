// SPDX-License-Identifier: Apache-2.0
#include "rule_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/dll/shared_library.hpp>
#include <ostream>

namespace assay {

namespace {

using nlohmann::json;

knowledge read_all(const installation& here, const run_options& options) {
  std::vector<std::filesystem::path> places{here.plugin_dir};
  places.insert(places.end(), options.plugin_dirs.begin(), options.plugin_dirs.end());
  return read_knowledge(places, options.trust_plugins);
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
  knowledge known = read_all(here, options);
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

std::vector<json> list_rule_files(const installation& here, const run_options& options) {
  std::vector<json> records;
  for (const rule_pack& pack : read_all(here, options).packs) {
    records.push_back({{"record", "rule_file"},
                       {"file", pack.file.string()},
                       {"status", pack.refused.empty() ? "read" : "refused"},
                       {"reason", pack.refused},
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
    text += steps_as_markdown("Linux", e->advice.on_linux);
    text += steps_as_markdown("WSL", e->advice.on_wsl);
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

std::filesystem::path plugin_file(const std::filesystem::path& bare) {
  std::filesystem::path file = bare;
  file += ".assay" + boost::dll::shared_library::suffix().string();
  return file;
}

}  // namespace assay
