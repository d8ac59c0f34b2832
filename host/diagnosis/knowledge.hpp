// SPDX-License-Identifier: Apache-2.0
//
// What assay knows of failures: the catalogue and the rules, read from rule files
// (docs/writing-a-diagnostic-plugin.md describes them). No LibTorch, no plugin code.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

enum class confidence { possible, likely, certain };
enum class severity { notice, warning, error };

/// What to do, by platform. A line that begins with "$ " is a command to paste. WSL's is Linux's
/// where the rule file gives none of its own.
struct advice {
  std::vector<std::string> any, on_linux, on_wsl, on_windows;
};

/// One entry of the catalogue.
struct catalogue_entry {
  std::string code;   // "ROCM-HIPRTC-HEADERS"
  std::string klass;  // "miopen_hiprtc_missing_header"
  std::string title, category, since, cause;
  assay::severity severity = severity::error;
  assay::advice advice;
  std::vector<std::string> references;
  std::vector<std::string> explains;  // codes that are mere consequences of this one
  std::string pack;
};

/// Positions in knowledge::patterns.
using pattern_list = std::vector<std::size_t>;

struct rule {
  std::string code;
  std::string name;  // for people: "diag_rocm ROCM-HIPRTC-HEADERS #2"
  pattern_list all, any, none;
  std::optional<std::size_t> within_lines;
  assay::confidence confidence = confidence::possible;
  std::vector<std::string> status, end, phase, operators, dtype, architecture, platform, build;
  std::vector<std::string> environment;
  std::string torch;         // ">=2.4, <2.7"
  bool needs_facts = false;  // where a condition is unknown, only a confirming probe counts
  std::string probe, confirmed_by, refuted_by;
};

/// A pattern, in lower case: what stands between its `*`.
struct pattern {
  std::string text;
  std::vector<std::string> pieces;
  std::size_t anchor = 0;          // the longest piece
  std::size_t literal_length = 0;  // of all pieces
};

/// A classifier of a plugin that lies beside the rule file, and the texts that make it worth
/// asking.
struct known_classifier {
  std::string id;
  std::filesystem::path plugin;  // "DIR/diag_torch", without what the system's libraries end in
  pattern_list any;
};

/// One rule file: read, or refused for a reason.
struct rule_pack {
  std::filesystem::path file;
  std::string id, version, vendor;
  std::string refused;  // "" when it was read
  std::string off;      // the line that turned it off; "" when it is on
  std::string sha256;   // "" where nobody asked
  std::size_t entry_count = 0, rule_count = 0;
};

struct knowledge {
  std::vector<rule_pack> packs;
  std::map<std::string, catalogue_entry> entries;  // by code
  std::vector<rule> rules;
  std::vector<pattern> patterns;
  std::vector<known_classifier> classifiers;

  [[nodiscard]] const catalogue_entry* find(const std::string& code) const;

  /// Adds one rule file's text. A file with any mistake is refused as a whole, with the first
  /// mistake and its line in rule_pack::refused.
  void add(const std::filesystem::path& file, std::string_view text);

  /// What a rule names and no file has; to be asked when all files are in. Each is one line.
  [[nodiscard]] std::vector<std::string> loose_ends() const;

  /// The same of probes; which there are is only known once plugins are loaded.
  [[nodiscard]] std::vector<std::string> loose_ends(const std::set<std::string>& probes) const;
};

/// What is decided of a file before it is read: a pack with `refused` or `off` set is not read.
using judge_of_packs = std::function<rule_pack(const std::filesystem::path&)>;

/// Reads the *.assay.toml among these files and folders. A file that others may write is refused
/// unless `trust_everything`, since people paste what it advises. One that holds checks and no
/// rules is an op pack and passed over.
knowledge read_knowledge(const std::vector<std::filesystem::path>& places, bool trust_everything,
                         const judge_of_packs& judge = {});

/// Whether a folder holds a *.assay.toml, which is a whole plugin by itself.
bool has_rule_file(const std::filesystem::path& folder);

/// Whether "2.11.0+rocm6.4" lies in ">=2.4, <2.12". Throws std::invalid_argument for a range that
/// is none.
bool version_in(std::string_view version, std::string_view range);

const char* name_of(confidence c);
const char* name_of(severity s);

}  // namespace assay
