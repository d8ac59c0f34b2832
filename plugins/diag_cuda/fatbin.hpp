// SPDX-License-Identifier: Apache-2.0
//
// For which GPUs a library holds CUDA code. nvcc puts the code of one source file into one "fat
// binary" in the section .nv_fatbin; each has a header, and an entry with a header of its own for
// each target. Payloads may be compressed; the headers are plain.
#pragma once

#include "host/common/elf_file.hpp"

#include <string>
#include <vector>

namespace diag_cuda {

struct fat_binary {
  std::vector<int> cubins{};  // machine code: 90 for sm_90
  std::vector<int> ptx{};     // code that the driver compiles for any newer GPU
};

struct gpu_code {
  std::vector<fat_binary> binaries{};
  std::string problem{};  // why it is not all that there is; empty: it is

  /// Part of the fat binaries that have code for this compute capability: 0 to 1.
  [[nodiscard]] double share_for(int capability) const;
  /// Targets that most fat binaries have: "sm_75 sm_80 sm_90", "compute_90".
  [[nodiscard]] std::vector<std::string> targets() const;
};

/// Whether code for `target` runs on a GPU of this capability.
bool cubin_runs_on(int target, int capability);

gpu_code read_gpu_code(const elf::file& library);

}  // namespace diag_cuda
