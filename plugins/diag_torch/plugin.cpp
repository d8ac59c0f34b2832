// SPDX-License-Identifier: Apache-2.0
#include "diag_torch/classifiers.hpp"

#include <assay/plugin.hpp>

#include <memory>

ASSAY_DIAGNOSTIC_PLUGIN("diag_torch", "0.1.0", "assay project")(assay::registry& plugin) {
  plugin.add(std::make_unique<diag_torch::out_of_memory>());
  plugin.add(std::make_unique<diag_torch::device_mismatch>());
  plugin.add(std::make_unique<diag_torch::dtype_not_implemented>());
}
