// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <assay/diagnostics.hpp>

#include <string>
#include <vector>

namespace diag_rocm {

/// Whether HSA_OVERRIDE_GFX_VERSION, as a failure's text sets it, may be the reason of a fault:
/// that hangs on the value and on the GPU, not on the word.
class override_in_text final : public assay::classifier {
 public:
  [[nodiscard]] std::string id() const override { return "rocm.override_in_text"; }
  [[nodiscard]] std::string summary() const override {
    return "compares HSA_OVERRIDE_GFX_VERSION with the GPU that the text names";
  }
  std::vector<assay::diagnosis> classify(const assay::failure& f) override;
};

}  // namespace diag_rocm
