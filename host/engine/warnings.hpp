// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/util/Exception.h>

#include <cstdint>
#include <string>
#include <vector>

namespace assay::engine {

/// Catches this thread's c10 warnings while it lives, each text once with its count.
class warning_catcher final : public c10::WarningHandler {
 public:
  struct caught {
    std::string text;
    std::string source;  // file:line
    std::int64_t count = 0;
  };

  warning_catcher() : guard_(this) {}

  void process(const c10::Warning& warning) override;

  /// Whether warnings that LibTorch gives once in a process are given again.
  static void repeat_once_warnings(bool repeat) { c10::WarningUtils::set_warnAlways(repeat); }

  [[nodiscard]] const std::vector<caught>& all() const { return caught_; }

 private:
  std::vector<caught> caught_;
  c10::WarningUtils::WarningHandlerGuard guard_;
};

}  // namespace assay::engine
