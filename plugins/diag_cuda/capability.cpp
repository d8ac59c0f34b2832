// SPDX-License-Identifier: Apache-2.0
#include "common/platform.hpp"
#include "common/probing.hpp"
#include "diag_cuda/driver_library.hpp"
#include "diag_cuda/fatbin.hpp"
#include "diag_cuda/machine.hpp"
#include "diag_cuda/probes.hpp"
#include "diag_cuda/torch_build.hpp"
#include "host/common/elf_file.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace diag_cuda {
namespace {

// A library holds a few kernels for one GPU alone; what most of them lack will be missed.
constexpr double enough = 0.5;
constexpr double next_to_nothing = 0.02;

/// 90 of "sm_90" and "sm_90a"; 0: it is no such name.
int capability_of(const std::string& architecture) {
  if (architecture.rfind("sm_", 0) != 0) {
    return 0;
  }
  const std::size_t end = architecture.find_first_not_of("0123456789", 3);
  const auto number = probing::whole_number(
      std::string_view(architecture).substr(3, end == std::string::npos ? end : end - 3));
  return static_cast<int>(number.value_or(0));
}

std::string holds(const gpu_code& code) {
  const std::vector<std::string> targets = code.targets();
  return "this LibTorch holds code for " +
         (targets.empty() ? "no GPU" : probing::joined(targets, " "));
}

assay::probe_answer judge(const gpu_code& code, const std::vector<int>& capabilities) {
  assay::probe_answer worst;
  for (const int capability : capabilities) {
    const double share = code.share_for(capability);
    const std::string gpu = "sm_" + std::to_string(capability);
    if (share <= next_to_nothing) {
      return probing::no(holds(code) + ", and for none that a GPU of " + gpu + " can run",
                         "CUDA-NO-KERNEL-IMAGE");
    }
    if (share < enough) {
      worst = probing::unknown("only a part of this LibTorch's kernels is there for " + gpu);
    } else if (worst.fact.empty()) {
      worst = probing::yes(holds(code) + ", which does for " + gpu);
    }
  }
  return worst;
}

}  // namespace

assay::probe_answer look_at_capability(const assay::probe_site& site) {
  std::vector<int> capabilities;
  if (const int given = capability_of(site.architecture); given > 0) {
    capabilities.push_back(given);
  }
  const machine m = look_at(site);
  const bool windows = probing::is_windows && site.is_this_machine();
  if (capabilities.empty() && !m.has_gpu() && !windows) {
    return probing::unknown(no_gpu_reason(m));
  }
  const torch_build torch = look_at_torch(site.torch_dir);
  if (torch.kind != build::cuda) {
    return probing::unknown(torch.reason);
  }
  if (torch.backend.extension() != ".so") {
    return probing::unknown("only libraries of Linux are read for it");
  }
  const gpu_code code = read_gpu_code(elf::file(torch.backend));
  assay::probe_answer answer;
  if (code.binaries.empty()) {
    answer = probing::unknown(code.problem.empty() ? "no CUDA code was found" : code.problem);
  } else {
    if (capabilities.empty() && site.is_this_machine()) {
      const driver_library asked = ask_driver_library(true);
      capabilities = asked.capabilities;
    }
    answer = capabilities.empty()
                 ? probing::unknown(holds(code) + "; which GPU this is, is not known")
                 : judge(code, capabilities);
    if (!code.problem.empty() && answer.state == assay::probe_state::no) {
      answer = probing::unknown(code.problem);
    }
  }
  answer.values.emplace_back("targets", probing::joined(code.targets(), " "));
  for (const int capability : capabilities) {
    answer.values.emplace_back("gpu", "sm_" + std::to_string(capability));
  }
  return answer;
}

}  // namespace diag_cuda
