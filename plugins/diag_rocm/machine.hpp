// SPDX-License-Identifier: Apache-2.0
//
// The AMD GPUs of a machine, as the kernel's files show them: no library of ROCm is asked.
#pragma once

#include <assay/diagnostics.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace diag_rocm {

enum class system_kind { linux_os, wsl, windows };

/// By the files below the root: a tree of another system can be looked at too.
[[nodiscard]] system_kind system_of(const assay::probe_site& site);

/// A GPU node of the KFD topology.
struct gpu {
  int node = -1;
  bool readable = false;       // its properties; a container may refuse them
  std::string architecture{};  // "gfx1032"; empty: not said
  bool known = false;          // whether targets.hpp has the architecture
  bool integrated = false;     // part of a processor
  std::string name{};          // on the box, where libdrm's table is installed
  unsigned compute_units = 0;  // 0: not said
  std::uint64_t vram = 0;
  int render_minor = -1;
  std::string pci{};  // "0000:03:00.0"
  std::uint64_t unique_id = 0;
};

/// A display or accelerator device of AMD on the PCI bus.
struct pci_device {
  std::string address{}, device{}, driver{}, name{};
};

struct machine {
  bool kfd = false;       // there is a topology
  bool bus_seen = false;  // the PCI bus could be listed
  std::vector<gpu> gpus{};
  std::vector<pci_device> pci{};
  std::vector<std::string> evidence{};

  [[nodiscard]] bool has_amd_gpu() const { return !gpus.empty() || !pci.empty(); }
  /// "gfx1032, gfx1036": each once, in the order of the nodes.
  [[nodiscard]] std::string architectures() const;
};

[[nodiscard]] machine look_at(const assay::probe_site& site);

/// Why a question about AMD GPUs has no answer: `otherwise`, but where the machine has none, all
/// probes say the same, which can be printed once.
[[nodiscard]] std::string why_unanswered(const assay::probe_site& site, const machine& found,
                                         std::string otherwise);

/// "gfx1032 (AMD Radeon RX 6650 XT)", "GPU of node 1" where nothing more is known.
[[nodiscard]] std::string described(const gpu& g);

/// The sysfs folder of a GPU's DRM device.
[[nodiscard]] std::filesystem::path drm_folder(const assay::probe_site& site, int render_minor);

/// Words of the kernel's command line.
[[nodiscard]] std::vector<std::string> kernel_options(const assay::probe_site& site);

/// The GPU targets that the LibTorch in question brings data of rocBLAS for; empty: not known.
[[nodiscard]] std::vector<std::string> targets_of_torch(const assay::probe_site& site);

}  // namespace diag_rocm
