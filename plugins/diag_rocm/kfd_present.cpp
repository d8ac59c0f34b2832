// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "common/pci_bus.hpp"
#include "container_marks.hpp"
#include "identity.hpp"
#include "machine.hpp"
#include "probes.hpp"
#include "text.hpp"

namespace diag_rocm {

namespace {

using assay::probe_answer;
using assay::probe_site;
using assay::probe_state;

std::string with_name(const pci_device& d) {
  return d.address + (d.name.empty() ? "" : " (" + d.name + ")");
}

/// One line on a GPU: "gfx1032 (AMD Radeon RX 6650 XT), 32 CUs, 8.0 GiB".
std::string in_full(const gpu& g) {
  std::string text = described(g);
  if (!g.architecture.empty() && !g.known) {
    text += ", a target that this version does not know";
  }
  if (g.compute_units != 0) {
    text += ", " + counted(g.compute_units, "CU");
  }
  if (g.vram != 0) {
    text += ", " + size_text(g.vram) + (g.integrated ? " carved out of system memory" : "");
  }
  return text;
}

/// Alike GPUs once: "8 x gfx942, 304 CUs, 192.0 GiB".
std::string all_in_full(const std::vector<gpu>& gpus) {
  std::vector<std::pair<std::string, std::size_t>> kinds;
  for (const gpu& g : gpus) {
    const std::string text = in_full(g);
    const auto same = std::find_if(kinds.begin(), kinds.end(),
                                   [&](const auto& kind) { return kind.first == text; });
    if (same == kinds.end()) {
      kinds.emplace_back(text, 1);
    } else {
      ++same->second;
    }
  }
  std::vector<std::string> parts;
  for (const auto& [text, count] : kinds) {
    parts.push_back(count == 1 ? text : std::to_string(count) + " x " + text);
  }
  return joined(parts, "; ");
}

void put_values(const machine& found, probe_answer& answer) {
  answer.values.emplace_back("gpus", std::to_string(found.gpus.size()));
  if (const std::string each = found.architectures(); !each.empty()) {
    answer.values.emplace_back("architecture", each);
  }
  for (const gpu& g : found.gpus) {
    if (g.readable) {
      const std::string name = "gpu." + std::to_string(g.node);
      answer.values.emplace_back(
          name, in_full(g) + ", " + g.pci + ", renderD" + std::to_string(g.render_minor));
    }
  }
}

bool is_for_rocm(const probe_site& site) {
  return !site.torch_dir.empty() && is_there(site.torch_dir / "lib/libtorch_hip.so");
}

/// A display or compute device of NVIDIA.
bool nvidia_on_the_bus(const probe_site& site) {
  const auto bus = probing::pci_functions(site);
  return std::any_of(bus.begin(), bus.end(), [](const probing::pci_function& device) {
    return device.vendor == probing::vendor_nvidia && device.base_class == probing::class_display;
  });
}

/// "/opt/rocm-7.2.0"; empty: there is none.
std::string system_rocm(const probe_site& site) {
  for (const std::string& name : names_in(site.at("/opt"))) {
    if (name.rfind("rocm", 0) == 0) {
      return "/opt/" + name;
    }
  }
  return {};
}

/// No AMD GPU is a fault only where something is meant for one.
void without_amd_gpu(const probe_site& site, probe_answer& answer) {
  answer.fact = "no AMD GPU on the PCI bus";
  const bool nvidia = nvidia_on_the_bus(site);
  const std::string rocm = system_rocm(site);
  std::string steps =
      "Nothing is to be mended in rights or containers: the machine has no AMD GPU. In a virtual "
      "machine the host must pass it through; else look that it is seated and has power.\n"
      "$ lspci -nn -d 1002:";
  if (is_for_rocm(site)) {
    answer.fact += ", though this LibTorch is built for ROCm";
    if (nvidia) {
      answer.fact += "; there is one of NVIDIA's";
      steps =
          "Install LibTorch's CUDA build for the NVIDIA GPU "
          "(https://pytorch.org/get-started/locally/).";
    }
  } else if (nvidia) {
    answer.fact += ", but one of NVIDIA's: no fault" +
                   (rocm.empty() ? std::string() : ", and " + rocm + " is merely left over");
    return;
  } else if (rocm.empty()) {
    answer.fact += ": no fault where none is meant to be there";
    return;
  } else {
    answer.fact += ", though " + rocm + " is installed";
  }
  answer.findings.emplace_back("ROCM-NO-GPU");
  answer.values.emplace_back("advice_instead", std::move(steps));
}

/// The topology shows no GPU: what the PCI bus says instead.
void by_the_bus(const probe_site& site, const machine& found, probe_answer& answer) {
  if (!found.bus_seen) {
    answer.fact = "neither the KFD topology nor the PCI bus can be seen in /sys";
    return;
  }
  answer.state = probe_state::no;
  if (found.pci.empty()) {
    without_amd_gpu(site, answer);
    return;
  }
  for (const pci_device& d : found.pci) {
    std::string code = "ROCM-NO-DRIVER";
    std::string what = "has no driver: amdgpu is not loaded or turned it down";
    if (d.driver == "amdgpu") {
      code = "ROCM-KFD-MISSING";
      what =
          "has the amdgpu driver, but KFD does not list it: too old a GPU, or a kernel without "
          "CONFIG_HSA_AMD";
    } else if (d.driver == "radeon") {
      code = "ROCM-GPU-TOO-OLD";
      what = "is driven by radeon, for GPUs that ROCm never supported";
    } else if (d.driver == "vfio-pci" || d.driver == "pci-stub" || d.driver == "xen-pciback") {
      code = "ROCM-GPU-PASSTHROUGH";
      what = "is set aside for a virtual machine (" + d.driver + ")";
    } else if (!d.driver.empty()) {
      what = "is driven by " + d.driver + ", not by amdgpu";
    }
    answer.fact += (answer.fact.empty() ? "AMD GPU " : "; ") + with_name(d) + " " + what;
    if (std::find(answer.findings.begin(), answer.findings.end(), code) == answer.findings.end()) {
      answer.findings.push_back(std::move(code));
    }
  }
}

class kfd_present final : public assay::probe {
 public:
  [[nodiscard]] std::string id() const override { return "rocm.kfd_present"; }
  [[nodiscard]] std::string summary() const override {
    return "is there a KFD topology with an AMD GPU?";
  }

  probe_answer look(const probe_site& site) override {
    probe_answer answer;
    const system_kind system = system_of(site);
    if (system == system_kind::windows) {
      answer.fact = "Windows has no KFD: HIP reaches the GPU through the display driver";
      return answer;
    }
    const machine found = look_at(site);
    answer.evidence = found.evidence;
    if (found.gpus.empty() && system == system_kind::wsl) {
      answer.fact = "WSL has no KFD: the GPU is reached through /dev/dxg";
      return answer;
    }
    if (found.gpus.empty()) {
      by_the_bus(site, found, answer);
      return answer;
    }
    put_values(found, answer);
    const auto refused = static_cast<std::size_t>(std::count_if(
        found.gpus.begin(), found.gpus.end(), [](const gpu& g) { return !g.readable; }));
    if (refused == found.gpus.size()) {
      answer.state = probe_state::no;
      answer.fact = "KFD lists " + counted(refused, "GPU") +
                    " whose properties this process may not read, as in a container without it";
      // Where the container lacks the device itself, that is the reason, and one finding will do.
      const bool lacks_it = container_of(site, {}) && !find_node(site, "/dev/kfd");
      answer.findings.emplace_back(lacks_it ? "ROCM-CONTAINER-DEVICES" : "ROCM-KFD-UNREADABLE");
      return answer;
    }
    answer.state = probe_state::yes;
    answer.fact = all_in_full(found.gpus);
    return answer;
  }
};

}  // namespace

std::unique_ptr<assay::probe> make_kfd_present() { return std::make_unique<kfd_present>(); }

}  // namespace diag_rocm
