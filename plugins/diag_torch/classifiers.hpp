// SPDX-License-Identifier: Apache-2.0
//
// What a rule of text cannot tell: numbers that decide, and names that belong into the answer.
#pragma once

#include <assay/diagnostics.hpp>

#include <string>
#include <vector>

namespace diag_torch {

/// Why there was no memory: the texts are the same, the numbers differ.
class out_of_memory : public assay::classifier {
 public:
  [[nodiscard]] std::string id() const override { return "torch.out_of_memory"; }
  [[nodiscard]] std::string summary() const override {
    return "does the arithmetic of an out-of-memory text";
  }
  std::vector<assay::diagnosis> classify(const assay::failure& f) override;
};

/// Tensors on several devices: which.
class device_mismatch : public assay::classifier {
 public:
  [[nodiscard]] std::string id() const override { return "torch.device_mismatch"; }
  [[nodiscard]] std::string summary() const override {
    return "names the devices that an operator's tensors are on";
  }
  std::vector<assay::diagnosis> classify(const assay::failure& f) override;
};

/// "not implemented for 'Half'": on the CPU or on the GPU.
class dtype_not_implemented : public assay::classifier {
 public:
  [[nodiscard]] std::string id() const override { return "torch.dtype_not_implemented"; }
  [[nodiscard]] std::string summary() const override {
    return "tells on which device a dtype has no kernel";
  }
  std::vector<assay::diagnosis> classify(const assay::failure& f) override;
};

}  // namespace diag_torch
