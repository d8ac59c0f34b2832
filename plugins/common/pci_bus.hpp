// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <assay/diagnostics.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace probing {

/// A function of a PCI device, as /sys tells of it; 0 where it does not.
struct pci_function {
  std::filesystem::path folder;
  std::string address;           // "0000:01:00.0"
  std::uint64_t vendor = 0;      // 0x10de
  std::uint64_t base_class = 0;  // 0x03: VGA and 3D controllers; 0x12: accelerators
};

inline constexpr std::uint64_t vendor_amd = 0x1002;
inline constexpr std::uint64_t vendor_nvidia = 0x10de;
inline constexpr std::uint64_t class_display = 0x03;
inline constexpr std::uint64_t class_accelerator = 0x12;

/// All of the site's, by address; none where the bus cannot be read.
std::vector<pci_function> pci_functions(const assay::probe_site& site);

}  // namespace probing
