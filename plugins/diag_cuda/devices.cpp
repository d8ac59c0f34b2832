// SPDX-License-Identifier: Apache-2.0
#include "common/pci_bus.hpp"
#include "common/platform.hpp"
#include "common/probing.hpp"
#include "diag_cuda/environment.hpp"
#include "diag_cuda/machine.hpp"
#include "diag_cuda/probes.hpp"
#include "diag_cuda/torch_build.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace diag_cuda {
namespace {

constexpr const char* finding = "CUDA-NO-DEVICE";

std::string who_has_it(const machine& m) {
  for (const pci_gpu& gpu : m.pci) {
    if (gpu.driver == "vfio-pci") {
      return "it is set aside for a virtual machine (vfio-pci)";
    }
    if (gpu.driver == "nouveau" || gpu.driver == "nova_core") {
      return "the kernel's own driver " + gpu.driver +
             " has it, which knows no CUDA: install "
             "NVIDIA's driver";
    }
  }
  return "NVIDIA's kernel module is not loaded: install the driver, or load it with: modprobe "
         "nvidia";
}

/// Whether the machine computes with an AMD GPU, so that one of NVIDIA's need not be meant for it.
bool has_amd_gpu_in_use(const assay::probe_site& site) {
  const auto bus = probing::pci_functions(site);
  return std::any_of(bus.begin(), bus.end(), [](const probing::pci_function& device) {
    return device.vendor == probing::vendor_amd &&
           probing::link_target(device.folder / "driver").filename() == "amdgpu";
  });
}

assay::probe_answer without_driver(const assay::probe_site& site, const machine& m) {
  auto answer = probing::no(
      "an NVIDIA GPU is on the PCI bus, but no NVIDIA driver runs: " + who_has_it(m), finding);
  const build torch = look_at_torch(site.torch_dir).kind;
  const bool wanted =
      torch == build::cuda || (torch == build::unknown && !has_amd_gpu_in_use(site));
  if (!wanted) {
    answer.fact += "; only a CUDA build of LibTorch would miss it";
    answer.findings.clear();
  } else if (torch == build::unknown) {
    answer.fact += " (no LibTorch is known here: it matters to CUDA builds)";
  }
  const bool has_other = std::any_of(m.pci.begin(), m.pci.end(),
                                     [](const pci_gpu& gpu) { return !gpu.driver.empty(); });
  if (!has_other) {
    answer.values.emplace_back(
        "advice_instead",
        "Load the driver; if there is no such module, install NVIDIA's driver, and after a kernel "
        "update have it built anew:\n"
        "$ sudo modprobe nvidia && nvidia-smi\n"
        "$ sudo dkms autoinstall && sudo modprobe nvidia");
  }
  return answer;
}

/// What is wrong with a device node; empty: nothing.
std::string trouble_with(const assay::probe_site& site, const std::string& node, bool open) {
  const std::filesystem::path path = site.at(node);
  if (!probing::is_there(path)) {
    return node + " is not there";
  }
  if (!site.is_this_machine()) {
    return "";
  }
  // Opening a GPU's own node may start the GPU, which takes seconds; the control node is cheap.
  const std::string why = open ? probing::why_not_openable(path)
                               : probing::why_not_usable(path, probing::use::read_write);
  return why.empty() ? "" : "this process may not use " + node + ": " + why;
}

assay::probe_answer of_nodes(const assay::probe_site& site, const machine& m) {
  std::vector<std::string> troubles;
  const auto look = [&](const std::string& node, bool open) {
    if (std::string trouble = trouble_with(site, node, open); !trouble.empty()) {
      troubles.push_back(std::move(trouble));
    }
  };
  look("/dev/nvidiactl", true);
  std::size_t numbered = 0;
  for (const std::string& name : probing::names_in(site.at("/dev"))) {
    if (name.rfind("nvidia", 0) == 0 && probing::whole_number(name.substr(6))) {
      ++numbered;
      look("/dev/" + name, false);
    }
  }
  if (numbered == 0) {
    troubles.emplace_back("no GPU's node /dev/nvidia0, /dev/nvidia1, ... is there");
  }
  const bool made_on_demand = probing::is_there(site.at("/usr/bin/nvidia-modprobe"));
  if (!probing::is_there(site.at("/dev/nvidia-uvm"))) {
    if (!made_on_demand) {
      troubles.emplace_back("/dev/nvidia-uvm is not there: modprobe nvidia-uvm makes it");
    }
  } else {
    look("/dev/nvidia-uvm", true);
  }
  if (!troubles.empty()) {
    auto answer =
        probing::no("the NVIDIA driver is loaded, but " + probing::joined(troubles, "; ") +
                        " (a container must be started with its GPUs: --gpus all)",
                    finding);
    return answer;
  }
  std::vector<std::string> models;
  for (const driver_gpu& gpu : m.gpus) {
    models.push_back(gpu.model);
  }
  const std::size_t gpus = std::max(m.gpus.size(), numbered);
  auto answer = probing::yes(std::to_string(gpus) + (gpus == 1 ? " NVIDIA GPU" : " NVIDIA GPUs") +
                             (models.empty() ? "" : " (" + probing::joined(models, ", ") + ")") +
                             ", device nodes " + (site.is_this_machine() ? "usable" : "are there") +
                             (numbered < m.gpus.size()
                                  ? "; only " + std::to_string(numbered) + " of them for this place"
                                  : ""));
  answer.values.emplace_back("gpus", std::to_string(gpus));
  return answer;
}

assay::probe_answer answer_for(const assay::probe_site& site, const machine& m) {
  if (!m.has_gpu()) {
    return probing::unknown(no_gpu_reason(m));
  }
  if (m.wsl && m.module_version.empty()) {
    const std::string why =
        site.is_this_machine() ? probing::why_not_openable(site.at("/dev/dxg")) : std::string();
    return why.empty() ? probing::yes("WSL: Windows' NVIDIA driver is reached through /dev/dxg")
                       : probing::no("WSL: this process may not use /dev/dxg: " + why, finding);
  }
  if (m.board && m.module_version.empty()) {
    return probing::yes("a board with an NVIDIA GPU of its own");
  }
  if (m.module_version.empty()) {
    return without_driver(site, m);
  }
  return of_nodes(site, m);
}

/// GPUs that are there, but that no program is shown, are of no use to anyone.
void consider_hidden(const assay::probe_site& site, assay::probe_answer& answer) {
  for (const pitfall& one : pitfalls_in(probing::variables_of(site))) {
    if (one.code == hides_gpus) {
      answer.state = assay::probe_state::no;
      answer.fact += "; but " + one.text;
      answer.evidence.push_back(one.line);
      answer.findings.push_back(one.code);
    }
  }
}

}  // namespace

assay::probe_answer look_at_devices(const assay::probe_site& site) {
  if (probing::is_windows && site.is_this_machine()) {
    return probing::unknown(probing::only_linux);
  }
  const machine m = look_at(site);
  assay::probe_answer answer = answer_for(site, m);
  if (answer.state == assay::probe_state::yes) {
    consider_hidden(site, answer);
  }
  for (const pci_gpu& gpu : m.pci) {
    answer.evidence.push_back(described(gpu));
  }
  if (!m.module_line.empty()) {
    answer.evidence.push_back(m.module_line);
  }
  return answer;
}

}  // namespace diag_cuda
