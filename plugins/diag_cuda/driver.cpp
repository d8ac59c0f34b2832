// SPDX-License-Identifier: Apache-2.0
#include "common/platform.hpp"
#include "common/probing.hpp"
#include "diag_cuda/driver_library.hpp"
#include "diag_cuda/machine.hpp"
#include "diag_cuda/probes.hpp"
#include "diag_cuda/torch_build.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace diag_cuda {
namespace {

// The oldest Linux driver for each CUDA: docs.nvidia.com/deploy/cuda-compatibility, as read on
// 2026-11-30. Since 11, one that does for a major version does for all its minor ones.
struct requirement {
  const char* cuda;
  const char* driver;
};
constexpr std::array requirements{
    requirement{"13", "580.65.06"}, requirement{"12", "525.60.13"}, requirement{"11", "450.80.02"},
    requirement{"10.2", "440.33"},  requirement{"10.1", "418.39"},  requirement{"10.0", "410.48"},
};

std::string major_of(const std::string& version) { return version.substr(0, version.find('.')); }

/// Empty: a CUDA that came after the table.
std::string driver_for(const std::string& cuda) {
  for (const requirement& one : requirements) {
    if (cuda == one.cuda || major_of(cuda) == one.cuda) {
      return one.driver;
    }
  }
  return "";
}

std::string cuda_of_driver(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// The library and the kernel module must be of one version; after an update without a restart,
/// they are not.
assay::probe_answer mismatch(const machine& m, const std::vector<std::string>& libraries) {
  auto answer = probing::no(
      "the loaded kernel module is " + m.module_version + ", the user library libcuda is " +
          probing::joined(libraries, " and ") + ": restart the machine, or make both one version",
      "CUDA-DRIVER-MISMATCH");
  for (const std::string& version : libraries) {
    answer.evidence.push_back("libcuda.so." + version);
  }
  return answer;
}

assay::probe_answer judge(const torch_build& torch, const std::string& driver, int driver_cuda) {
  const std::string needed = driver_for(torch.cuda);
  const std::string built = "this LibTorch is built for CUDA " + torch.cuda;
  if (!driver.empty() && !needed.empty()) {
    return probing::older(driver, needed)
               ? probing::no("the NVIDIA driver is " + driver + ", and " + built +
                                 ", which needs " + needed + " or newer",
                             "CUDA-DRIVER-OLD")
               : probing::yes("the NVIDIA driver " + driver + " does for CUDA " + torch.cuda);
  }
  if (driver_cuda > 0) {
    const std::string offered = cuda_of_driver(driver_cuda);
    return probing::older(major_of(offered), major_of(torch.cuda))
               ? probing::no("the NVIDIA driver offers CUDA " + offered + ", and " + built,
                             "CUDA-DRIVER-OLD")
               : probing::yes("the NVIDIA driver offers CUDA " + offered + ", and " + built);
  }
  return probing::unknown(driver.empty() ? "the NVIDIA driver's version is not to be seen"
                                         : "which driver CUDA " + torch.cuda +
                                               " needs is not known here; it is " + driver);
}

assay::probe_answer answer_for(const assay::probe_site& site, const machine& m,
                               const torch_build& torch) {
  const std::vector<std::string> libraries = library_versions(site);
  const bool one_matches =
      std::find(libraries.begin(), libraries.end(), m.module_version) != libraries.end();
  if (!m.module_version.empty() && !libraries.empty() && !one_matches) {
    return mismatch(m, libraries);
  }
  driver_library asked;
  if (site.is_this_machine()) {
    asked = ask_driver_library(false);
    if (!asked.opened && !m.module_version.empty()) {
      auto answer = probing::no(
          "the NVIDIA driver is loaded, but its user library is not found: " + asked.why_not,
          "CUDA-LIBRARY-MISSING");
      answer.evidence.push_back(asked.why_not);
      return answer;
    }
  }
  const std::string has = !m.module_version.empty() ? "; the NVIDIA driver is " + m.module_version
                          : asked.cuda_version > 0
                              ? "; the driver offers CUDA " + cuda_of_driver(asked.cuda_version)
                              : std::string();
  if (torch.kind != build::cuda || torch.cuda.empty()) {
    return probing::unknown(torch.reason + has);
  }
  if (m.module_version.empty() && asked.cuda_version == 0) {
    return probing::unknown("no NVIDIA driver is loaded (cuda.devices says why)");
  }
  auto answer = judge(torch, m.module_version, asked.cuda_version);
  if (asked.cuda_version > 0) {
    answer.values.emplace_back("driver_cuda", cuda_of_driver(asked.cuda_version));
  }
  answer.evidence.push_back(torch.source);
  return answer;
}

}  // namespace

assay::probe_answer look_at_driver(const assay::probe_site& site) {
  const machine m = look_at(site);
  const bool windows = probing::is_windows && site.is_this_machine();
  if (!m.has_gpu() && !windows) {
    return probing::unknown(no_gpu_reason(m));
  }
  const torch_build torch = look_at_torch(site.torch_dir);
  assay::probe_answer answer = answer_for(site, m, torch);
  if (!m.module_line.empty()) {
    answer.evidence.push_back(m.module_line);
    answer.values.emplace_back("driver", m.module_version);
  }
  if (!torch.cuda.empty()) {
    answer.values.emplace_back("runtime", torch.cuda);
  }
  return answer;
}

}  // namespace diag_cuda
