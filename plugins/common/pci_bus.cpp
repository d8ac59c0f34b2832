// SPDX-License-Identifier: Apache-2.0
#include "common/pci_bus.hpp"

#include "common/probing.hpp"

namespace probing {

std::vector<pci_function> pci_functions(const assay::probe_site& site) {
  const std::filesystem::path bus = site.at("/sys/bus/pci/devices");
  std::vector<pci_function> found;
  for (const std::string& address : names_in(bus)) {
    const std::filesystem::path folder = bus / address;
    const auto number = [&](const char* file) {
      return whole_number(read_text(folder / file, 64).value_or(""), 16).value_or(0);
    };
    found.push_back({folder, address, number("vendor"), number("class") >> 16});
  }
  return found;
}

}  // namespace probing
