// SPDX-License-Identifier: Apache-2.0
#include "diag_cuda/machine.hpp"

#include "common/pci_bus.hpp"
#include "common/probing.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace diag_cuda {
namespace {

namespace fs = std::filesystem;

std::vector<pci_gpu> gpus_among(const std::vector<probing::pci_function>& bus) {
  std::vector<pci_gpu> found;
  for (const probing::pci_function& device : bus) {
    // Sound and USB of the same card do not count.
    if (device.vendor != probing::vendor_nvidia || device.base_class != probing::class_display) {
      continue;
    }
    pci_gpu gpu{.address = device.address};
    const std::string id = probing::read_text(device.folder / "device", 64).value_or("");
    std::string_view digits = probing::trimmed(id);
    digits.remove_prefix(digits.substr(0, 2) == "0x" ? 2 : 0);
    gpu.id = "10de:" + std::string(digits);
    gpu.driver = probing::link_target(device.folder / "driver").filename().string();
    found.push_back(std::move(gpu));
  }
  return found;
}

std::vector<driver_gpu> gpus_of_driver(const fs::path& folder) {
  std::vector<driver_gpu> found;
  for (const std::string& name : probing::names_in(folder)) {
    const auto text = probing::read_text(folder / name / "information");
    if (!text) {
      continue;
    }
    driver_gpu gpu;
    for (const std::string_view line : probing::lines_of(*text)) {
      const std::size_t colon = line.find(':');
      const std::string_view key = probing::trimmed(line.substr(0, colon));
      const std::string_view value =
          colon == std::string_view::npos ? "" : probing::trimmed(line.substr(colon + 1));
      if (key == "Model") {
        gpu.model = value;
      } else if (key == "Device Minor") {
        gpu.minor = value;
      }
    }
    found.push_back(std::move(gpu));
  }
  return found;
}

}  // namespace

std::string driver_version_in(std::string_view line) {
  const auto digit = [&](std::size_t i) {
    return i < line.size() && std::isdigit(static_cast<unsigned char>(line[i])) != 0;
  };
  for (std::size_t from = 0; from < line.size(); ++from) {
    if (!digit(from) || (from > 0 && line[from - 1] != ' ')) {
      continue;
    }
    std::size_t end = from;
    while (digit(end) || (end < line.size() && line[end] == '.' && digit(end + 1))) {
      ++end;
    }
    const std::string_view word = line.substr(from, end - from);
    if (word.find('.') != std::string_view::npos && (end == line.size() || line[end] == ' ')) {
      return std::string(word);
    }
    from = end;
  }
  return "";
}

machine look_at(const assay::probe_site& site) {
  machine found;
  const auto bus = probing::pci_functions(site);
  found.bus_readable = !bus.empty();
  found.pci = gpus_among(bus);
  const std::string version =
      probing::read_text(site.at("/proc/driver/nvidia/version")).value_or("");
  for (const std::string_view line : probing::lines_of(version)) {
    if (line.find("NVRM version") != std::string_view::npos) {
      found.module_line = line;
      found.module_version = driver_version_in(line);
    }
  }
  found.gpus = gpus_of_driver(site.at("/proc/driver/nvidia/gpus"));
  // Any GPU vendor's is reached through /dev/dxg; only NVIDIA's driver brings libcuda.
  found.wsl = probing::is_wsl(site) && probing::is_there(site.at("/usr/lib/wsl/lib/libcuda.so.1"));
  found.board =
      probing::is_there(site.at("/dev/nvhost-gpu")) || probing::is_there(site.at("/dev/nvgpu"));
  return found;
}

std::string no_gpu_reason(const machine& m) {
  return m.bus_readable ? "no NVIDIA GPU on the PCI bus"
                        : "no NVIDIA GPU seen: the PCI bus cannot be read here, and no NVIDIA "
                          "driver is loaded";
}

std::vector<std::string> library_versions(const assay::probe_site& site) {
  std::vector<std::string> found;
  for (const char* folder : {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
                             "/usr/lib64", "/usr/lib", "/lib64", "/lib/x86_64-linux-gnu"}) {
    const std::string target =
        probing::link_target(site.at(fs::path(folder) / "libcuda.so.1")).filename().string();
    constexpr std::string_view stem = "libcuda.so.";
    if (target.rfind(stem, 0) == 0 && target.size() > stem.size() + 2) {
      std::string version = target.substr(stem.size());
      if (std::find(found.begin(), found.end(), version) == found.end()) {
        found.push_back(std::move(version));
      }
    }
  }
  return found;
}

std::string described(const pci_gpu& gpu) {
  return gpu.address + " " + gpu.id + ", " +
         (gpu.driver.empty() ? "no driver" : "driver " + gpu.driver);
}

}  // namespace diag_cuda
