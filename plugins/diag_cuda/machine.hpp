// SPDX-License-Identifier: Apache-2.0
//
// What files say of NVIDIA's GPUs and driver.
#pragma once

#include <assay/diagnostics.hpp>

#include <string>
#include <vector>

namespace diag_cuda {

struct pci_gpu {
  std::string address{};  // "0000:01:00.0"
  std::string id{};       // "10de:2335"
  std::string driver{};   // "nvidia", "nouveau", "vfio-pci"; empty: none
};

struct driver_gpu {
  std::string model{};  // "NVIDIA H200"
  std::string minor{};  // of /dev/nvidiaN
};

struct machine {
  bool bus_readable = false;       // /sys/bus/pci
  std::vector<pci_gpu> pci{};      // NVIDIA's, graphics and compute only
  std::string module_version{};    // of the loaded driver: "580.95.05"
  std::string module_line{};       // as it stands in /proc/driver/nvidia/version
  std::vector<driver_gpu> gpus{};  // that the driver knows
  bool wsl = false;
  bool board = false;  // a Jetson or its like: the GPU is on no bus

  /// Whether there is a trace of one at all.
  [[nodiscard]] bool has_gpu() const {
    return !pci.empty() || !module_version.empty() || wsl || board;
  }
};

machine look_at(const assay::probe_site& site);

/// Why there is nothing to look at, where there is no NVIDIA GPU.
std::string no_gpu_reason(const machine& m);

/// "580.95.05" in the driver's own line.
std::string driver_version_in(std::string_view line);

/// Versions of libcuda.so that stand in the system's folders, as their file names say.
std::vector<std::string> library_versions(const assay::probe_site& site);

/// "NVIDIA H200 (0000:01:00.0 10de:2335, driver nvidia)".
std::string described(const pci_gpu& gpu);

}  // namespace diag_cuda
