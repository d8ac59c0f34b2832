// SPDX-License-Identifier: Apache-2.0
//
// --plugins-lock: which plugin files may be opened, by their SHA-256. docs/options.md describes the
// file.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay {

class plugins_lock {
 public:
  /// An operator library that a plugin names.
  struct library {
    std::string file;  // its name, for people
    std::string sha256;
  };
  struct entry {
    std::string id, version;
    std::string vendor, file;  // for people; may be ""
    std::string sha256;
    std::vector<library> libraries;
  };

  plugins_lock() = default;
  explicit plugins_lock(std::vector<entry> entries) : entries_(std::move(entries)) {}

  /// Throws usage_error, which begins with `origin` and names file and line, for whatever is wrong.
  static plugins_lock read(const std::filesystem::path& file, const std::string& origin);

  /// As read() reads it.
  [[nodiscard]] std::string text() const;

  /// Why a plugin file may not be opened; "" when it may. `id` and `version`: what it says of
  /// itself, "" where that is not known.
  [[nodiscard]] std::string refusal(const std::filesystem::path& plugin, const std::string& id,
                                    const std::string& version, const std::string& sha256) const;

  /// The same of an operator library that the plugin with this SHA-256 names.
  [[nodiscard]] std::string library_refusal(const std::string& plugin_sha256,
                                            const std::filesystem::path& needed) const;

  [[nodiscard]] const std::vector<entry>& entries() const { return entries_; }
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }

 private:
  std::filesystem::path file_;
  std::vector<entry> entries_;
};

}  // namespace assay
