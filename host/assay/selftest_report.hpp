// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <memory>

#include "record_sink.hpp"

namespace assay {

/// Reads the records of a run of the planted faults (plugins/selftest) and tells, at its end, for
/// each fault whether a link of the chain found it, and which.
class selftest_report : public record_sink {
 public:
  /// Whether every fault that can be planted on the device was found, and nothing in the check
  /// without a fault. Valid once the summary was seen.
  [[nodiscard]] virtual bool all_detected() const = 0;
};

/// Writes the table to `out`, which outlives it.
std::unique_ptr<selftest_report> make_selftest_report(std::ostream& out, bool color);

}  // namespace assay
