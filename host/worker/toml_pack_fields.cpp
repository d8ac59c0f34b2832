// SPDX-License-Identifier: Apache-2.0
#include "toml_pack_fields.hpp"

#include <algorithm>
#include <utility>

#include "host/common/dtype_names.hpp"
#include "host/common/nearest.hpp"

namespace assay::worker {

toml_source::toml_source(std::string name, std::string_view text) : name_(std::move(name)) {
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines_.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

std::string toml_source::place(const toml::node& node) const {
  return name_ + ":" + std::to_string(std::max<std::uint32_t>(node.source().begin.line, 1));
}

std::string toml_source::place(const toml::node& node, std::string_view text,
                               std::size_t offset) const {
  const auto line = static_cast<std::size_t>(node.source().begin.line);
  if (line == 0 || line > lines_.size() || text.empty()) {
    return place(node);
  }
  // Columns count code points.
  const std::string_view whole = lines_[line - 1];
  const auto begins_one = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
  std::size_t from = 0;
  for (auto column = node.source().begin.column; from < whole.size() && column > 1; --column) {
    ++from;
    while (from < whole.size() && !begins_one(whole[from])) {
      ++from;
    }
  }
  const std::size_t at = whole.find(text, from);
  if (at == std::string_view::npos) {
    return place(node);
  }
  const std::string_view before = whole.substr(0, at + offset);
  return place(node) + ":" +
         std::to_string(std::count_if(before.begin(), before.end(), begins_one) + 1);
}

void toml_source::fail(const toml::node& at, const std::string& what) const {
  throw toml_mistake(place(at) + ": " + what);
}

void toml_fields::fail(const toml::node& at, const std::string& text) const {
  source_->fail(at, what_ + ": " + text);
}

void toml_fields::only(std::initializer_list<std::string_view> known) const {
  for (const auto& [key, value] : *table_) {
    if (std::find(known.begin(), known.end(), key.str()) == known.end()) {
      source_->fail(value, what_ + " has no key '" + std::string(key.str()) + "'" +
                               did_you_mean(key.str(), known));
    }
  }
}

const toml::node& toml_fields::need(std::string_view key) const {
  const toml::node* found = find(key);
  if (found == nullptr) {
    source_->fail(*table_, what_ + " needs '" + std::string(key) + "'");
  }
  return *found;
}

std::string toml_fields::text_of(const toml::node& node, const std::string& called) const {
  const auto value = node.value_exact<std::string>();
  if (!value || value->empty()) {
    fail(node, called + " is a text that is not empty");
  }
  if (value->find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos) {
    fail(node, called + " is one line");
  }
  return *value;
}

std::string toml_fields::text(std::string_view key) const {
  return text_of(need(key), "'" + std::string(key) + "'");
}

std::string toml_fields::text_or(std::string_view key, std::string fallback) const {
  return has(key) ? text(key) : std::move(fallback);
}

bool toml_fields::flag_or(std::string_view key, bool fallback) const {
  const toml::node* found = find(key);
  if (found == nullptr) {
    return fallback;
  }
  const auto value = found->value_exact<bool>();
  if (!value) {
    fail(*found, "'" + std::string(key) + "' is true or false");
  }
  return *value;
}

std::string toml_fields::word_or(std::string_view key, const std::vector<std::string_view>& allowed,
                                 std::string fallback) const {
  return has(key) ? word(key, allowed) : std::move(fallback);
}

std::string toml_fields::word(std::string_view key,
                              const std::vector<std::string_view>& allowed) const {
  std::string given = text(key);
  if (std::find(allowed.begin(), allowed.end(), given) == allowed.end()) {
    // Where it is a dtype, it may be one as the command line takes it.
    fail(need(key), "'" + std::string(key) + "' takes " + word_list(allowed) + ", not '" + given +
                        "'" + did_you_mean(dtype_meant(given), allowed));
  }
  return given;
}

const toml::array* toml_fields::list(std::string_view key, const char* of_what) const {
  const toml::node* found = find(key);
  if (found == nullptr) {
    return nullptr;
  }
  const toml::array* array = found->as_array();
  if (array == nullptr || array->empty()) {
    fail(*found, "'" + std::string(key) + "' is a list of " + of_what +
                     (array == nullptr ? "" : ", which is not empty; leave the key out instead"));
  }
  return array;
}

std::vector<std::string> toml_fields::texts(std::string_view key) const {
  std::vector<std::string> all;
  if (const toml::array* array = list(key, "texts")) {
    for (const toml::node& one : *array) {
      all.push_back(text_of(one, "each of '" + std::string(key) + "'"));
    }
  }
  return all;
}

std::optional<toml_fields> toml_fields::table(std::string_view key) const {
  const toml::node* found = find(key);
  if (found == nullptr) {
    return std::nullopt;
  }
  return item(*found, "'" + std::string(key) + "'");
}

toml_fields toml_fields::item(const toml::node& node, const std::string& called) const {
  const toml::table* inner = node.as_table();
  if (inner == nullptr) {
    fail(node, called + " is a table, { key = value, ... }");
  }
  return {*source_, *inner, what_ + ", " + called};
}

std::vector<const toml::table*> toml_fields::tables(std::string_view key) const {
  std::vector<const toml::table*> all;
  const toml::node* found = find(key);
  if (found == nullptr) {
    return all;
  }
  const std::string written =
      "'" + std::string(key) + "' is written as [[" + std::string(key) + "]]";
  const toml::array* array = found->as_array();
  if (array == nullptr) {
    source_->fail(*found, written);
  }
  for (const toml::node& one : *array) {
    if (!one.is_table()) {
      source_->fail(one, written);
    }
    all.push_back(one.as_table());
  }
  return all;
}

}  // namespace assay::worker
