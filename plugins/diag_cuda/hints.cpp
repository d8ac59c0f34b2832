// SPDX-License-Identifier: Apache-2.0
#include "common/probing.hpp"
#include "diag_cuda/driver_library.hpp"
#include "diag_cuda/machine.hpp"
#include "diag_cuda/probes.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace diag_cuda {

assay::probe_answer look_at_hints(const assay::probe_site& site) {
  const machine m = look_at(site);
  if (!m.has_gpu()) {
    return probing::unknown(no_gpu_reason(m));
  }
  const std::string set = probing::value_of(probing::variables_of(site), "CUDA_MPS_PIPE_DIRECTORY");
  const std::filesystem::path pipes = set.empty() ? "/tmp/nvidia-mps" : set;
  const bool server = probing::is_there(site.at(pipes / "control"));
  const bool daemon = probing::is_there(site.at("/run/nvidia-persistenced/socket")) ||
                      probing::is_there(site.at("/var/run/nvidia-persistenced/socket"));

  std::vector<std::string> facts;
  assay::probe_answer answer;
  bool known = true;
  if (server) {
    facts.push_back("an MPS server serves this machine's programs (" +
                    (pipes / "control").string() + "): one that fails may take others with it");
    answer.findings.emplace_back("CUDA-MPS");
  }
  if (m.wsl && m.module_version.empty()) {
    facts.emplace_back("persistence mode is Windows' matter");
  } else if (daemon) {
    facts.emplace_back("nvidia-persistenced keeps the driver loaded");
  } else if (!site.is_this_machine()) {
    known = false;
    facts.emplace_back(
        "no nvidia-persistenced; whether persistence mode is on without it can only be asked on "
        "the machine itself");
  } else {
    const management_library asked = ask_management_library();
    known = !asked.persistent.empty();
    if (!known) {
      facts.push_back("persistence mode could not be asked: " +
                      (asked.why_not.empty() ? "NVML names no GPU" : asked.why_not));
    } else if (std::find(asked.persistent.begin(), asked.persistent.end(), false) !=
               asked.persistent.end()) {
      facts.emplace_back("persistence mode is off");
      answer.findings.emplace_back("CUDA-PERSISTENCE-OFF");
    } else {
      facts.emplace_back("persistence mode is on");
    }
  }
  answer.fact = probing::joined(facts, "; ");
  answer.state = !answer.findings.empty() ? assay::probe_state::no
                 : known                  ? assay::probe_state::yes
                                          : assay::probe_state::unknown;
  return answer;
}

}  // namespace diag_cuda
