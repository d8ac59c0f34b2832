// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <stdexcept>

#include "host/common/nearest.hpp"
#include "host/common/pack_contents.hpp"
#include "host/common/toml.hpp"
#include "host/common/variable_pattern.hpp"
#include "knowledge.hpp"

namespace assay {

namespace {

constexpr std::size_t shortest_anchor = 4;  // text_scan looks for runs of four characters

constexpr std::array<std::string_view, 11> categories{
    "install", "driver",       "permission",   "library data",     "memory",    "unsupported",
    "hang",    "kernel build", "wrong result", "performance path", "user error"};

/// One mistake, with its line; what() is what the user reads.
class mistake : public std::runtime_error {
 public:
  mistake(const toml::node& where, const std::string& what)
      : runtime_error("line " + std::to_string(where.source().begin.line) + ": " + what) {}
};

using key_list = std::vector<std::string_view>;

void only_these(const toml::table& table, const key_list& known, const std::string& where) {
  for (const auto& [key, value] : table) {
    if (std::find(known.begin(), known.end(), key.str()) == known.end()) {
      throw mistake(value, where + " has no key '" + std::string(key.str()) + "'" +
                               did_you_mean(key.str(), known));
    }
  }
}

std::string text(const toml::table& table, std::string_view key, bool needed,
                 const std::string& where) {
  const toml::node* node = table.get(key);
  if (node == nullptr) {
    if (needed) {
      throw mistake(table, where + " needs '" + std::string(key) + "'");
    }
    return "";
  }
  const auto value = node->value<std::string>();
  if (!node->is_string() || value->empty()) {
    throw mistake(*node, where + ": '" + std::string(key) + "' is a text that is not empty");
  }
  return *value;
}

bool is_one_line(const std::string& text) {
  return text.find_first_of("\r\n") == std::string::npos;
}

/// What is printed as one line.
std::string line_of(const toml::table& table, std::string_view key, const std::string& where) {
  std::string line = text(table, key, true, where);
  if (!is_one_line(line)) {
    throw mistake(*table.get(key), where + ": '" + std::string(key) + "' is one line");
  }
  return line;
}

std::vector<std::string> texts(const toml::table& table, std::string_view key,
                               const std::string& where) {
  std::vector<std::string> list;
  const toml::node* node = table.get(key);
  if (node == nullptr) {
    return list;
  }
  const toml::array* array = node->as_array();
  if (array == nullptr) {
    throw mistake(*node, where + ": '" + std::string(key) + "' is a list of texts");
  }
  for (const toml::node& item : *array) {
    const auto value = item.value<std::string>();
    if (!item.is_string() || value->empty()) {
      throw mistake(item, where + ": '" + std::string(key) + "' holds texts that are not empty");
    }
    list.push_back(*value);
  }
  return list;
}

std::vector<std::string> words(const toml::table& table, std::string_view key,
                               const key_list& allowed, const std::string& where) {
  std::vector<std::string> list = texts(table, key, where);
  for (const std::string& word : list) {
    if (std::find(allowed.begin(), allowed.end(), word) == allowed.end()) {
      throw mistake(*table.get(key), where + ": '" + std::string(key) + "' takes " +
                                         word_list(allowed) + ", not '" + word + "'");
    }
  }
  return list;
}

std::string one_of(const toml::table& table, std::string_view key, const key_list& allowed,
                   bool needed, const std::string& where) {
  const std::string word = text(table, key, needed, where);
  if (!word.empty() && std::find(allowed.begin(), allowed.end(), word) == allowed.end()) {
    throw mistake(*table.get(key), where + ": '" + std::string(key) + "' cannot be '" + word + "'" +
                                       did_you_mean(word, allowed));
  }
  return word;
}

std::vector<std::string> lines(const toml::table& table, std::string_view key,
                               const std::string& where) {
  std::vector<std::string> list = texts(table, key, where);
  if (!std::all_of(list.begin(), list.end(), is_one_line)) {
    throw mistake(*table.get(key), where + ": each of '" + std::string(key) + "' is one line");
  }
  return list;
}

bool is_code(const std::string& code) {
  return std::all_of(code.begin(), code.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  });
}

pattern make_pattern(const std::string& given) {
  pattern made;
  std::string piece;
  for (const char c : given + "*") {
    if (c != '*') {
      piece += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
      continue;
    }
    if (!piece.empty()) {
      made.literal_length += piece.size();
      made.pieces.push_back(std::move(piece));
    }
    piece.clear();
  }
  for (std::size_t i = 0; i < made.pieces.size(); ++i) {
    if (made.pieces[i].size() > made.pieces[made.anchor].size()) {
      made.anchor = i;
    }
    made.text += (i == 0 ? "" : "*") + made.pieces[i];
  }
  return made;
}

/// Reads one file into a knowledge of its own, so that a mistake leaves no half of it behind.
class reader {
 public:
  reader(const toml::table& root, const knowledge& known, bool is_op_pack) : known_(known) {
    // What an op pack's keys hold is the worker's to read; here they must only be found by it.
    only_these(root, {"pack", "category", "check", "diagnosis", "classifier"}, "the file");
    for (const char* key : {"category", "check"}) {
      if (const toml::node* node = root.get(key); node != nullptr && !is_op_pack) {
        throw mistake(*node, std::string("'") + key + "' is written as [[" + key +
                                 "]], at the beginning of a line");
      }
    }
    read_pack(root);
    for_each_table(root, "diagnosis", "[[diagnosis]]",
                   [&](const toml::table& one) { read_diagnosis(one); });
    for_each_table(root, "classifier", "[[classifier]]",
                   [&](const toml::table& one) { read_classifier(one); });
  }

  knowledge made;
  rule_pack pack;

 private:
  void read_pack(const toml::table& root) {
    const toml::table* head = root["pack"].as_table();
    if (head == nullptr) {
      throw mistake(root, "the file needs [pack], with format, id, version and vendor");
    }
    only_these(*head,
               {"format", "id", "version", "vendor", "accelerator", "load_library", "needs",
                "environment"},
               "[pack]");
    if ((*head)["format"].value<std::int64_t>() != 1) {
      throw mistake(*head, "[pack] needs 'format = 1', the one that this assay reads");
    }
    pack.id = text(*head, "id", true, "[pack]");
    if (pack.id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.-") != std::string::npos) {
      throw mistake(*head, "[pack]: id '" + pack.id + "': an id takes a-z, 0-9, _ . and - only");
    }
    pack.version = text(*head, "version", true, "[pack]");
    pack.vendor = text(*head, "vendor", true, "[pack]");
    for (const std::string& name : texts(*head, "environment", "[pack]")) {
      if (!is_variable_pattern(name)) {
        throw mistake(
            *head->get("environment"),
            "[pack]: 'environment' " + std::string(variable_pattern_rule) + ", not '" + name + "'");
      }
    }
    for (const rule_pack& other : known_.packs) {
      if (other.refused.empty() && other.id == pack.id) {
        throw mistake(*head, "the pack id '" + pack.id + "' is taken by " + other.file.string());
      }
    }
  }

  void read_diagnosis(const toml::table& from) {
    catalogue_entry entry;
    entry.pack = pack.id;
    entry.code = text(from, "code", true, "a [[diagnosis]]");
    const std::string& code = entry.code;
    if (!is_code(code)) {
      throw mistake(from, "code '" + code + "': a code takes A-Z, 0-9 and - only");
    }
    if (made.find(code) != nullptr || known_.find(code) != nullptr) {
      throw mistake(from, "the code " + code + " is taken; a code stands for one diagnosis");
    }
    only_these(from,
               {"code", "class", "title", "category", "severity", "since", "cause", "advice",
                "references", "explains", "rule"},
               code);
    entry.klass = line_of(from, "class", code);
    entry.title = line_of(from, "title", code);
    entry.category = one_of(from, "category", {categories.begin(), categories.end()}, true, code);
    const std::string how = one_of(from, "severity", {"error", "warning", "notice"}, true, code);
    entry.severity = how == "error"     ? severity::error
                     : how == "warning" ? severity::warning
                                        : severity::notice;
    entry.since = line_of(from, "since", code);
    entry.cause = text(from, "cause", true, code);
    std::replace(entry.cause.begin(), entry.cause.end(), '\n', ' ');
    entry.references = texts(from, "references", code);
    entry.explains = texts(from, "explains", code);
    const toml::table* advised = from["advice"].as_table();
    if (advised == nullptr) {
      throw mistake(from, code + " needs advice.any, advice.linux, advice.wsl or advice.windows");
    }
    only_these(*advised, {"any", "linux", "wsl", "windows"}, code + ": advice");
    const std::vector<std::string> on_linux = lines(*advised, "linux", code);
    entry.advice = {lines(*advised, "any", code), on_linux,
                    advised->contains("wsl") ? lines(*advised, "wsl", code) : on_linux,
                    lines(*advised, "windows", code)};
    int ordinal = 0;
    for_each_table(from, "rule", "[[diagnosis.rule]]",
                   [&](const toml::table& one) { read_rule(one, code, ++ordinal); });
    made.entries.emplace(code, std::move(entry));
  }

  void read_rule(const toml::table& from, const std::string& code, int ordinal) {
    rule r;
    r.code = code;
    r.name = code + " #" + std::to_string(ordinal);
    const std::string where = "rule " + r.name;
    only_these(from,
               {"all", "any", "not", "within_lines", "confidence", "status", "end", "phase",
                "operator", "dtype", "architecture", "platform", "build", "torch", "environment",
                "needs_facts", "probe", "confirmed_by", "refuted_by"},
               where);
    r.all = patterns(from, "all", where);
    r.any = patterns(from, "any", where);
    r.none = patterns(from, "not", where);
    if (const toml::node* node = from.get("within_lines")) {
      const auto count = node->value<std::int64_t>();
      if (!count || *count < 1) {
        throw mistake(*node, where + ": 'within_lines' is a number of lines, 1 or more");
      }
      if (r.all.empty() && r.any.empty()) {
        throw mistake(*node, where + ": 'within_lines' goes with 'all' or 'any'");
      }
      r.within_lines = static_cast<std::size_t>(*count);
    }
    r.confidence = one_of(from, "confidence", {"likely", "possible"}, true, where) == "likely"
                       ? confidence::likely
                       : confidence::possible;
    r.status = words(from, "status", {"error", "crash", "timeout", "ok"}, where);
    r.end = texts(from, "end", where);
    r.phase = texts(from, "phase", where);
    r.operators = texts(from, "operator", where);
    r.dtype = texts(from, "dtype", where);
    r.architecture = texts(from, "architecture", where);
    r.platform = words(from, "platform", {"linux", "wsl", "windows"}, where);
    r.build = words(from, "build", {"rocm", "cuda", "cpu"}, where);
    r.environment = texts(from, "environment", where);
    for (const std::string& one : r.environment) {
      if (one.find('=') == std::string::npos) {
        throw mistake(*from.get("environment"),
                      where + ": environment '" + one +
                          "' is written NAME=value; for any value: " + one + "=*");
      }
    }
    r.torch = text(from, "torch", false, where);
    try {
      static_cast<void>(version_in("0", r.torch));
    } catch (const std::invalid_argument& e) {
      throw mistake(*from.get("torch"), where + ": " + e.what());
    }
    if (const toml::node* node = from.get("needs_facts")) {
      if (!node->is_boolean()) {
        throw mistake(*node, where + ": 'needs_facts' is true or false");
      }
      r.needs_facts = node->value_or(false);
    }
    r.probe = text(from, "probe", false, where);
    r.confirmed_by = one_of(from, "confirmed_by", {"yes", "no"}, false, where);
    r.refuted_by = one_of(from, "refuted_by", {"yes", "no"}, false, where);
    if (r.probe.empty() != (r.confirmed_by.empty() && r.refuted_by.empty())) {
      throw mistake(from, where + ": 'probe' goes with 'confirmed_by' or 'refuted_by'");
    }
    if (!r.confirmed_by.empty() && r.confirmed_by == r.refuted_by) {
      throw mistake(from, where + ": the same answer cannot confirm and refute");
    }
    if (r.all.empty() && r.any.empty() && r.end.empty() && r.status.empty()) {
      throw mistake(from, where + " needs 'all', 'any', 'end' or 'status': it would always hold");
    }
    made.rules.push_back(std::move(r));
  }

  void read_classifier(const toml::table& from) {
    const std::string id = text(from, "id", true, "a [[classifier]]");
    only_these(from, {"id", "plugin", "any"}, "classifier " + id);
    const std::string plugin = text(from, "plugin", true, "classifier " + id);
    if (std::filesystem::path(plugin).has_parent_path()) {
      throw mistake(from, "classifier " + id + ": 'plugin' is a name, of a file beside this one");
    }
    made.classifiers.push_back({id, plugin, patterns(from, "any", "classifier " + id)});
    if (made.classifiers.back().any.empty()) {
      throw mistake(from, "classifier " + id + " needs 'any': the texts that it is asked about");
    }
  }

  template <typename Read>
  static void for_each_table(const toml::table& from, std::string_view key, const char* written,
                             Read&& read) {
    const toml::node* node = from.get(key);
    if (node == nullptr) {
      return;
    }
    const toml::array* list = node->as_array();
    if (list == nullptr || !std::all_of(list->begin(), list->end(),
                                        [](const toml::node& one) { return one.is_table(); })) {
      throw mistake(*node, std::string(key) + " is written as " + written);
    }
    for (const toml::node& one : *list) {
      read(*one.as_table());
    }
  }

  pattern_list patterns(const toml::table& from, std::string_view key, const std::string& where) {
    pattern_list list;
    for (const std::string& given : texts(from, key, where)) {
      pattern one = make_pattern(given);
      if (one.pieces.empty() || one.pieces[one.anchor].size() < shortest_anchor ||
          given.find('\n') != std::string::npos) {
        throw mistake(*from.get(key), where + ": pattern '" + given + "' needs a run of " +
                                          std::to_string(shortest_anchor) +
                                          " characters without *, on one line");
      }
      list.push_back(made.patterns.size());
      made.patterns.push_back(std::move(one));
    }
    return list;
  }

  const knowledge& known_;
};

}  // namespace

static void shift_by(pattern_list& list, std::size_t distance) {
  for (std::size_t& position : list) {
    position += distance;
  }
}

void knowledge::add(const std::filesystem::path& file, std::string_view text) {
  rule_pack pack;
  try {
    const toml::table root = parse_toml(text);
    reader read(root, *this, contents_of(text).checks);
    pack = read.pack;
    pack.entry_count = read.made.entries.size();
    pack.rule_count = read.made.rules.size();
    const std::size_t shift = patterns.size();
    for (rule& r : read.made.rules) {
      for (pattern_list* list : {&r.all, &r.any, &r.none}) {
        shift_by(*list, shift);
      }
      rules.push_back(std::move(r));
    }
    for (known_classifier& one : read.made.classifiers) {
      one.plugin = file.parent_path() / one.plugin;
      shift_by(one.any, shift);
      classifiers.push_back(std::move(one));
    }
    std::move(read.made.patterns.begin(), read.made.patterns.end(), std::back_inserter(patterns));
    entries.merge(read.made.entries);
  } catch (const toml_syntax_error& e) {
    pack.refused =
        "line " + std::to_string(e.line()) + ": " + e.what() + "; mend the file, or take it away";
  } catch (const mistake& e) {
    pack.refused = std::string(e.what()) + "; mend the file, or take it away";
  }
  pack.file = file;
  packs.push_back(std::move(pack));
}

}  // namespace assay
