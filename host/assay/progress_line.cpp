// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

#include "collected_run.hpp"
#include "reports.hpp"

namespace assay {
namespace {

class progress_line final : public record_sink {
 public:
  progress_line(std::ostream& out, int width) : out_(out), width_(width) {
    show("loading plugins and LibTorch");
  }
  ~progress_line() override { show(""); }
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;

  void on_record(const nlohmann::json& record) override {
    const std::string kind = text_of(record, "record");
    if (kind == "schedule") {
      total_ = list_of(record, "checks").size();
    } else if (kind == "starting") {
      const bool again = !text_of(record, "repeat_of").empty();
      const std::string purpose = text_of(record, "purpose");
      const bool evidence = purpose == "evidence";
      const bool trace = purpose == "library_trace";
      std::size_t& counted = evidence ? examined_ : trace ? traced_ : started_;
      counted += again ? 0 : 1;
      show(fmt::format("[{}/{}] {}{} on {}{}", counted, total_,
                       evidence ? "evidence of "
                       : trace  ? "libraries of "
                                : "",
                       text_of(record, "id"), text_of(record, "device"), again ? " (again)" : ""));
    } else if (kind == "result" && member_of(record, "worker").is_null()) {
      ++started_;  // skipped without being run
    } else if (kind == "summary") {
      show("");
    }
  }

 private:
  // Blanks over what the old text leaves behind: no escape sequence, so that any terminal will do.
  void show(std::string text) {
    if (width_ > 1 && text.size() >= static_cast<std::size_t>(width_)) {
      text.resize(static_cast<std::size_t>(width_) - 1);
    }
    if (text.empty() && shown_ == 0) {
      return;
    }
    out_ << '\r' << text;
    if (text.size() < shown_) {
      out_ << std::string(shown_ - text.size(), ' ') << '\r' << text;
    }
    out_ << std::flush;
    shown_ = text.size();
  }

  std::ostream& out_;
  int width_;
  std::size_t total_ = 0;
  std::size_t started_ = 0;
  std::size_t examined_ = 0;
  std::size_t traced_ = 0;
  std::size_t shown_ = 0;
};

}  // namespace

std::unique_ptr<record_sink> make_progress_line(std::ostream& out, int width) {
  return std::make_unique<progress_line>(out, width);
}

}  // namespace assay
