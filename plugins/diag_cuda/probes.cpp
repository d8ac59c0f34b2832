// SPDX-License-Identifier: Apache-2.0
#include "diag_cuda/probes.hpp"

#include "common/question.hpp"

namespace diag_cuda {

std::vector<std::unique_ptr<assay::probe>> all_probes() {
  std::vector<std::unique_ptr<assay::probe>> all;
  const auto add = [&](const char* id, const char* summary, probing::question::answerer ask) {
    all.push_back(std::make_unique<probing::question>(id, summary, ask));
  };
  add("cuda.devices", "is an NVIDIA GPU there, and are its device nodes usable?", look_at_devices);
  add("cuda.driver", "is the NVIDIA driver new enough for this LibTorch's CUDA?", look_at_driver);
  add("cuda.capability", "does this LibTorch hold code for this NVIDIA GPU?", look_at_capability);
  add("cuda.environment", "are the variables that CUDA reads as they should be?",
      look_at_environment);
  add("cuda.hints", "is the NVIDIA driver set up for quick starts, without a server in between?",
      look_at_hints);
  add("cuda.xid", "is the kernel log free of NVIDIA's fault reports (Xid)?", look_at_kernel_log);
  return all;
}

}  // namespace diag_cuda
