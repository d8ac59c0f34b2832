// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace assay {

/// Whoever wants to see a run's records, in the order and form of docs/results-format.md: the
/// result file, the table, the progress line. Called from the main thread only.
class record_sink {
 public:
  virtual ~record_sink() = default;
  virtual void on_record(const nlohmann::json& record) = 0;
};

}  // namespace assay
