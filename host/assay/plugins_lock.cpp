// SPDX-License-Identifier: Apache-2.0
#include "plugins_lock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

#include "errors.hpp"
#include "host/common/nearest.hpp"
#include "host/common/toml.hpp"
#include "sha256.hpp"

namespace assay {

namespace {

using entry = plugins_lock::entry;

/// What is wrong, and in which line.
struct mistake {
  toml::source_region where;
  std::string what;
};

void only_these(const toml::table& table, const std::vector<std::string_view>& known,
                const std::string& in) {
  for (const auto& [key, value] : table) {
    if (std::find(known.begin(), known.end(), key.str()) == known.end()) {
      throw mistake{value.source(), fmt::format("{} has no key '{}'{}", in, key.str(),
                                                did_you_mean(key.str(), known))};
    }
  }
}

std::string text_of(const toml::table& table, std::string_view key, const std::string& in,
                    bool needed) {
  const toml::node* node = table.get(key);
  if (node == nullptr && !needed) {
    return "";
  }
  const auto text = node == nullptr ? std::nullopt : node->value<std::string>();
  if (!text || (needed && text->empty())) {
    throw mistake{node == nullptr ? table.source() : node->source(),
                  fmt::format("{} needs {} = \"...\"", in, key)};
  }
  return *text;
}

std::string hash_of(const toml::table& table, const std::string& in) {
  const std::string hash = text_of(table, "sha256", in, true);
  if (hash.size() != 64 || hash.find_first_not_of("0123456789abcdef") != std::string::npos) {
    throw mistake{table.get("sha256")->source(),
                  fmt::format("{}: sha256 is 64 digits of 0-9 and a-f", in)};
  }
  return hash;
}

const toml::array& tables_in(const toml::table& table, std::string_view key,
                             const std::string& in) {
  static const toml::array none;
  const toml::node* node = table.get(key);
  if (node == nullptr) {
    return none;
  }
  const toml::array* list = node->as_array();
  if (list == nullptr || !std::all_of(list->begin(), list->end(),
                                      [](const toml::node& one) { return one.is_table(); })) {
    throw mistake{node->source(), in};
  }
  return *list;
}

entry read_entry(const toml::table& table) {
  only_these(table, {"id", "version", "vendor", "file", "sha256", "libraries"}, "[[plugin]]");
  entry made;
  made.id = text_of(table, "id", "a [[plugin]]", true);
  const std::string in = fmt::format("plugin '{}'", made.id);
  made.version = text_of(table, "version", in, true);
  made.vendor = text_of(table, "vendor", in, false);
  made.file = text_of(table, "file", in, false);
  made.sha256 = hash_of(table, in);
  for (const toml::node& one :
       tables_in(table, "libraries", in + ": libraries is a list of {file = ..., sha256 = ...}")) {
    const toml::table& library = *one.as_table();
    only_these(library, {"file", "sha256"}, in + ": a library");
    made.libraries.push_back(
        {text_of(library, "file", in + ": a library", true), hash_of(library, in + ": a library")});
  }
  return made;
}

/// A JSON string is a TOML string too.
std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

plugins_lock plugins_lock::read(const std::filesystem::path& file, const std::string& origin) {
  std::ifstream in(file, std::ios::binary);
  std::error_code error;
  if (!in || !std::filesystem::is_regular_file(file, error)) {
    throw usage_error(
        fmt::format("{}: the lock {} cannot be read; assay list --write-lock FILE writes one",
                    origin, file.string()));
  }
  const std::string whole{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const auto wrong = [&](auto line, const std::string& what) {
    return usage_error(
        fmt::format("{}: {}:{}: {}; mend it, or write it again with assay list --write-lock",
                    origin, file.string(), line, what));
  };
  try {
    const toml::table root = toml::parse(whole);
    only_these(root, {"format", "plugin"}, "a lock");
    if (root["format"].value<std::int64_t>() != 1) {
      throw mistake{root.source(), "a lock needs format = 1, the one that this assay reads"};
    }
    plugins_lock lock;
    lock.file_ = file;
    for (const toml::node& one : tables_in(root, "plugin", "the plugins are written [[plugin]]")) {
      lock.entries_.push_back(read_entry(*one.as_table()));
    }
    return lock;
  } catch (const toml::parse_error& e) {
    throw wrong(e.source().begin.line, std::string(e.description()));
  } catch (const mistake& e) {
    throw wrong(e.where.begin.line, e.what);
  } catch (const detail::toml_assertion&) {
    throw wrong(1, "the parser gave up on it");
  }
}

std::string plugins_lock::text() const {
  std::string text =
      "# Written by assay list --write-lock: with --plugins-lock, these files are opened and no\n"
      "# others. docs/options.md describes it.\n"
      "format = 1\n";
  for (const entry& one : entries_) {
    text +=
        fmt::format("\n[[plugin]]\nid = {}\nversion = {}\n", quoted(one.id), quoted(one.version));
    text += one.vendor.empty() ? "" : fmt::format("vendor = {}\n", quoted(one.vendor));
    text += one.file.empty() ? "" : fmt::format("file = {}\n", quoted(one.file));
    text += fmt::format("sha256 = \"{}\"\n", one.sha256);
    if (!one.libraries.empty()) {
      text += "libraries = [\n";
      for (const library& needed : one.libraries) {
        text += fmt::format("  {{ file = {}, sha256 = \"{}\" }},\n", quoted(needed.file),
                            needed.sha256);
      }
      text += "]\n";
    }
  }
  return text;
}

std::string plugins_lock::refusal(const std::filesystem::path& plugin, const std::string& id,
                                  const std::string& version, const std::string& sha256) const {
  if (sha256.empty()) {
    return fmt::format("it cannot be read, so that it cannot be compared with {}", file_.string());
  }
  const entry* near = nullptr;
  for (const entry& one : entries_) {
    if (one.sha256 == sha256) {
      if ((id.empty() || one.id == id) && (version.empty() || one.version == version)) {
        return "";
      }
      return fmt::format("{} has its SHA-256 as {} {}, and it is {} {}; write the lock again",
                         file_.string(), one.id, one.version, id, version);
    }
    const bool same_name = one.file == plugin.filename().string();
    if (near == nullptr && (one.id == id || (id.empty() && same_name))) {
      near = &one;
    }
  }
  constexpr const char* what_to_do =
      "take it away, or, if you trust it, write the lock again (assay list --write-lock)";
  if (near == nullptr) {
    return fmt::format("it is not in {}; {}", file_.string(), what_to_do);
  }
  return fmt::format(
      "{} has {} {} with another SHA-256 ({:.12}..., and this file's is {:.12}...); {}",
      file_.string(), near->id, near->version, near->sha256, sha256, what_to_do);
}

std::string plugins_lock::library_refusal(const std::string& plugin_sha256,
                                          const std::filesystem::path& needed) const {
  const std::string sha256 = sha256_of(needed);
  for (const entry& one : entries_) {
    if (one.sha256 == plugin_sha256 &&
        std::any_of(one.libraries.begin(), one.libraries.end(),
                    [&](const auto& known) { return known.sha256 == sha256; })) {
      return "";
    }
  }
  return fmt::format(
      "its operator library {} {} {}; take the plugin away, or, if you trust it, write the lock "
      "again (assay list --write-lock)",
      needed.string(),
      sha256.empty() ? "cannot be read, so that it cannot be compared with"
                     : "is not, with its SHA-256, in",
      file_.string());
}

}  // namespace assay
