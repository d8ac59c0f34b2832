// SPDX-License-Identifier: Apache-2.0
//
// GPUs that use the machine's memory: what they call their total is a setting, and what they call
// free may not be there.
#pragma once

#include "diag_torch/out_of_memory_text.hpp"

#include <assay/diagnostics.hpp>

#include <string>

namespace diag_torch {

struct shared_memory {
  bool sure = false;     // the GPU is named, or the numbers allow nothing else
  bool perhaps = false;  // no card has such a size
  std::string because{};
};

shared_memory shares_memory(const out_of_memory_text& text, const assay::failure& f);

}  // namespace diag_torch
