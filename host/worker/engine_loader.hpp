// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/dll/shared_library.hpp>
#include <chrono>
#include <deque>
#include <nlohmann/json.hpp>
#include <string>

#include "host/engine/engine_api.h"

namespace assay::worker {

/// LibTorch and the engine for it, opened for the life of the process.
class engine_loader {
 public:
  /// Opens what the command `setup` names under `engine` and answers the record `engine`. Never
  /// throws: what does not open becomes the record's reason.
  nlohmann::json load(const nlohmann::json& wanted);

  /// Null until load() answered "ready".
  [[nodiscard]] const assay_engine* engine() const { return engine_; }

  /// LibTorch's GPU library; null where none is open.
  [[nodiscard]] const char* backend() const {
    return backend_.empty() ? nullptr : backend_.c_str();
  }

 private:
  void open(const std::string& file, bool globally);
  void note_step(const std::string& what, std::chrono::steady_clock::time_point begin);

  std::deque<boost::dll::shared_library> open_;
  nlohmann::json steps_ = nlohmann::json::array();
  const assay_engine* engine_ = nullptr;
  std::string backend_;
};

}  // namespace assay::worker
