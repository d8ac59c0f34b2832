// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "host/results/saved_run.hpp"
#include "record_sink.hpp"
#include "redaction.hpp"
#include "reports.hpp"

namespace assay {

/// A result file in memory, for runs that are compared or kept.
class result_text final : public record_sink {
 public:
  result_text() = default;
  /// Without what is personal.
  explicit result_text(redaction names) : names_(std::move(names)) {}

  void on_record(const nlohmann::json& record) override {
    text_ += result_line(names_ ? names_->of_record(record) : record);
  }

  [[nodiscard]] const std::string& text() const { return text_; }

  /// What a comparison needs of it; `name` stands for it in messages.
  [[nodiscard]] saved_run run(const char* name) const {
    std::istringstream in(text_);
    return read_saved_run(in, name);
  }

 private:
  std::optional<redaction> names_;
  std::string text_;
};

}  // namespace assay
