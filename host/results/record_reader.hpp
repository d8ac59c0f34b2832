// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <simdjson.h>

#include <cstddef>
#include <filesystem>
#include <istream>
#include <optional>
#include <string>

#include "line_reader.hpp"
#include "saved_run.hpp"

namespace assay {

/// The records of a result file, one after the other, up to the last whole one: whatever reads
/// result files goes through here, so that all agree on what is one. Throws results_error for what
/// is none, and for what passes the limits.
class record_reader {
 public:
  record_reader(const std::filesystem::path& file, const reading_limits& limits);
  /// Of the text of a result file, which `name` stands for and which must outlive this.
  record_reader(std::istream& text, const std::filesystem::path& name,
                const reading_limits& limits);

  /// False behind the last whole record.
  bool next();

  /// Valid until the next call of next().
  [[nodiscard]] simdjson::dom::object record() const { return record_; }
  [[nodiscard]] const std::string& line() const { return lines_.line(); }
  [[nodiscard]] const std::string& kind() const { return kind_; }

  [[nodiscard]] int schema_version() const { return schema_version_; }
  /// Behind the last record: what is missing of the file, in one line.
  [[nodiscard]] std::optional<std::string> missing() const;

 private:
  void begin();

  std::filesystem::path file_;
  reading_limits limits_;
  line_reader lines_;
  simdjson::dom::parser parser_;
  simdjson::dom::object record_;
  std::string kind_;
  std::size_t bytes_ = 0;
  int schema_version_ = 0;
  std::optional<std::string> damage_;
  bool has_summary_ = false;
};

}  // namespace assay
