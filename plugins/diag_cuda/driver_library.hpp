// SPDX-License-Identifier: Apache-2.0
//
// What NVIDIA's own libraries say, asked in the process of one probe.
#pragma once

#include <string>
#include <vector>

namespace diag_cuda {

struct driver_library {
  bool opened = false;
  std::string why_not{};
  int cuda_version = 0;             // 13000: CUDA 13.0; 0: it did not say
  int start_error = 0;              // of cuInit; 0: it went well
  std::vector<int> capabilities{};  // of each GPU that this process may use: 90
};

/// `start`: also starts the driver, which costs a moment, and lists the GPUs.
driver_library ask_driver_library(bool start);

struct management_library {
  bool opened = false;
  std::string why_not{};
  std::vector<bool> persistent{};  // a GPU each
};

management_library ask_management_library();

}  // namespace diag_cuda
