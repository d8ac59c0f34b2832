// SPDX-License-Identifier: Apache-2.0
//
// Reading typed values out of a TOML table, with the line of what is wrong.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "check_store.hpp"
#include "host/common/toml.hpp"

namespace assay::worker {

/// A mistake in a file; what() is "pack.assay.toml:17: what is wrong".
class toml_mistake : public refused {
 public:
  using refused::refused;
};

/// The file that is read: what its places are called.
class toml_source {
 public:
  /// `text` must outlive this.
  toml_source(std::string name, std::string_view text);

  /// "pack.assay.toml:17"
  [[nodiscard]] std::string place(const toml::node& node) const;

  /// "pack.assay.toml:17:31", of a byte of a text; without the column where the text does not stand
  /// in the file letter for letter.
  [[nodiscard]] std::string place(const toml::node& node, std::string_view text,
                                  std::size_t offset) const;

  [[noreturn]] void fail(const toml::node& at, const std::string& what) const;

 private:
  std::string name_;
  std::vector<std::string_view> lines_;
};

/// One table, and what it is called in messages: "[pack]", "[[check]] 'norm/layer_norm'".
class toml_fields {
 public:
  toml_fields(const toml_source& source, const toml::table& table, std::string what)
      : source_(&source), table_(&table), what_(std::move(what)) {}

  /// Refuses every key that is not among these.
  void only(std::initializer_list<std::string_view> known) const;

  [[nodiscard]] bool has(std::string_view key) const { return table_->contains(key); }
  [[nodiscard]] const toml::node* find(std::string_view key) const { return table_->get(key); }
  [[nodiscard]] const toml::node& need(std::string_view key) const;

  /// One line that is not empty.
  [[nodiscard]] std::string text(std::string_view key) const;
  [[nodiscard]] std::string text_or(std::string_view key, std::string fallback) const;
  [[nodiscard]] bool flag_or(std::string_view key, bool fallback) const;
  /// One of `allowed`.
  [[nodiscard]] std::string word(std::string_view key,
                                 const std::vector<std::string_view>& allowed) const;
  [[nodiscard]] std::string word_or(std::string_view key,
                                    const std::vector<std::string_view>& allowed,
                                    std::string fallback) const;
  /// The list under this key, which may be missing (NULL) but not be anything else, nor empty.
  [[nodiscard]] const toml::array* list(std::string_view key, const char* of_what) const;
  [[nodiscard]] std::vector<std::string> texts(std::string_view key) const;
  [[nodiscard]] std::optional<toml_fields> table(std::string_view key) const;
  /// The tables of [[key]].
  [[nodiscard]] std::vector<const toml::table*> tables(std::string_view key) const;
  /// An item of a list that must be a table.
  [[nodiscard]] toml_fields item(const toml::node& node, const std::string& called) const;
  /// A text that is a list's item or a key's value.
  [[nodiscard]] std::string text_of(const toml::node& node, const std::string& called) const;

  [[nodiscard]] const toml::table& node() const { return *table_; }
  [[nodiscard]] const toml_source& source() const { return *source_; }
  [[nodiscard]] const std::string& what() const { return what_; }
  [[noreturn]] void fail(const toml::node& at, const std::string& text) const;

 private:
  const toml_source* source_;
  const toml::table* table_;
  std::string what_;
};

}  // namespace assay::worker
