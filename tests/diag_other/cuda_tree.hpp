// SPDX-License-Identifier: Apache-2.0
//
// Trees of machines with NVIDIA GPUs.
#pragma once

#include "fake_elf.hpp"
#include "fake_fatbin.hpp"
#include "temporary_tree.hpp"

#include <assay/diagnostics.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace test {

class cuda_tree : public temporary_tree {
 public:
  [[nodiscard]] assay::probe_site site(std::string architecture = {}) const {
    return {.root = root(), .torch_dir = at("/torch"), .architecture = std::move(architecture)};
  }

  void pci(const std::string& address, const std::string& vendor, const std::string& device,
           const std::string& device_class, const std::string& driver) const {
    const std::string folder = "/sys/bus/pci/devices/" + address + "/";
    file(folder + "vendor", vendor + "\n");
    file(folder + "device", device + "\n");
    file(folder + "class", device_class + "\n");
    if (!driver.empty()) {
      std::filesystem::create_symlink("../../../bus/pci/drivers/" + driver, at(folder + "driver"));
    }
  }
  void h200(const std::string& driver = "nvidia") const {
    pci("0000:01:00.0", "0x10de", "0x2335", "0x030200", driver);
  }
  void driver(const std::string& version) const {
    file("/proc/driver/nvidia/version",
         "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  " + version +
             "  Release Build  (builder@host)  Wed Jul 30 12:00:00 UTC 2026\n"
             "GCC version:  gcc version 13.3.0 (Ubuntu 13.3.0-6ubuntu2)\n");
    file("/proc/driver/nvidia/gpus/0000:01:00.0/information",
         "Model: \t\t NVIDIA H200\nIRQ:   \t\t 100\nGPU UUID: \t GPU-0\nDevice Minor: \t 0\n");
  }
  void nodes() const {
    for (const char* name : {"/dev/nvidiactl", "/dev/nvidia0", "/dev/nvidia-uvm"}) {
      file(name);
    }
  }
  void library(const std::string& version) const {
    file("/usr/lib/x86_64-linux-gnu/libcuda.so." + version);
    std::filesystem::create_symlink("libcuda.so." + version,
                                    at("/usr/lib/x86_64-linux-gnu/libcuda.so.1"));
  }
  void healthy(const std::string& version = "580.95.05") const {
    h200();
    driver(version);
    nodes();
    library(version);
  }
  void torch(const std::string& cuda,
             const std::vector<gpu_target>& targets = {{2, 75}, {2, 80}, {2, 90}}) const {
    file("/torch/version.py", "__version__ = '2.11.0+cu'\ncuda: Optional[str] = '" + cuda +
                                  "'\nhip: Optional[str] = None\n");
    file("/torch/lib/libtorch_cpu.so");
    fake_elf{.sections = {{".nv_fatbin",
                           fake_fatbin(targets) + std::string(8, '\0') + fake_fatbin(targets)}}}
        .write(at("/torch/lib/libtorch_cuda.so"));
  }
};

}  // namespace test
