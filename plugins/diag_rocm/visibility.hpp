// SPDX-License-Identifier: Apache-2.0
//
// What ROCR_, HIP_ and CUDA_VISIBLE_DEVICES leave of the GPUs.
#pragma once

#include <string>
#include <vector>

#include "environment.hpp"
#include "machine.hpp"

namespace diag_rocm {

struct visibility {
  std::vector<gpu> left{};              // in HIP's order
  std::vector<std::string> problems{};  // what does not do what it seems to, a line each
  std::vector<std::string> ignored{};   // what HIP does not read here, a line each
  std::vector<std::string> settings{};  // "HIP_VISIBLE_DEVICES=0"
};

[[nodiscard]] visibility visible_gpus(const std::vector<gpu>& gpus, const environment& variables,
                                      system_kind system);

}  // namespace diag_rocm
