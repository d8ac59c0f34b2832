// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <utility>

#include "reports.hpp"

namespace assay {

namespace {

class redacted_sink final : public record_sink {
 public:
  redacted_sink(std::unique_ptr<record_sink> behind, redaction names)
      : behind_(std::move(behind)), names_(std::move(names)) {}

  void on_record(const nlohmann::json& record) override {
    behind_->on_record(names_.of_record(record));
  }

 private:
  std::unique_ptr<record_sink> behind_;
  redaction names_;
};

}  // namespace

std::unique_ptr<record_sink> make_redacted(std::unique_ptr<record_sink> behind, redaction names) {
  return std::make_unique<redacted_sink>(std::move(behind), std::move(names));
}

std::unique_ptr<record_sink> for_strangers(std::unique_ptr<record_sink> sink,
                                           const run_options& options) {
  return options.full_environment ? std::move(sink)
                                  : make_redacted(std::move(sink), redaction::of_this_machine());
}

}  // namespace assay
