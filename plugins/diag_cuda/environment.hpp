// SPDX-License-Identifier: Apache-2.0
//
// Variables that CUDA, its libraries and LibTorch's allocator read, and what goes wrong with them.
#pragma once

#include "common/probing.hpp"

#include <string>
#include <vector>

namespace diag_cuda {

inline constexpr const char* hides_gpus = "CUDA-ENV-HIDES-GPUS";

struct pitfall {
  std::string code;  // of the catalogue
  std::string text;  // one line: what it does
  std::string line;  // NAME=value
};

std::vector<pitfall> pitfalls_in(const probing::variables& environment);

}  // namespace diag_cuda
