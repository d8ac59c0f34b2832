// SPDX-License-Identifier: Apache-2.0
#include "diag_cuda/fatbin.hpp"

#include <algorithm>
#include <cstdint>
#include <map>

namespace diag_cuda {
namespace {

constexpr std::uint64_t magic = 0xBA55ED50;
constexpr std::size_t header_size = 16;
constexpr std::size_t entry_size = 32;  // as much as is read of its header
constexpr int most_entries = 100000;
constexpr int most_gaps = 4096;

constexpr int kind_ptx = 1;
constexpr int kind_cubin = 2;

std::uint64_t number(const std::string& from, std::size_t at, std::size_t width) {
  std::uint64_t value = 0;
  for (std::size_t i = width; i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(from[at + i]);
  }
  return value;
}

}  // namespace

bool cubin_runs_on(int target, int capability) {
  return target / 10 == capability / 10 && target <= capability;
}

double gpu_code::share_for(int capability) const {
  if (binaries.empty()) {
    return 0;
  }
  const auto has_code = [&](const fat_binary& one) {
    return std::any_of(one.cubins.begin(), one.cubins.end(),
                       [&](int target) { return cubin_runs_on(target, capability); }) ||
           std::any_of(one.ptx.begin(), one.ptx.end(),
                       [&](int target) { return target <= capability; });
  };
  const auto count = std::count_if(binaries.begin(), binaries.end(), has_code);
  return static_cast<double>(count) / static_cast<double>(binaries.size());
}

std::vector<std::string> gpu_code::targets() const {
  std::map<int, std::size_t> cubins;
  std::map<int, std::size_t> ptx;
  const auto count = [](std::map<int, std::size_t>& in, std::vector<int> list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    for (const int target : list) {
      ++in[target];
    }
  };
  for (const fat_binary& one : binaries) {
    count(cubins, one.cubins);
    count(ptx, one.ptx);
  }
  std::vector<std::string> names;
  const auto name = [&](const std::map<int, std::size_t>& from, const char* prefix) {
    for (const auto& [target, found] : from) {
      if (2 * found >= binaries.size()) {
        names.push_back(prefix + std::to_string(target));
      }
    }
  };
  name(cubins, "sm_");
  name(ptx, "compute_");
  return names;
}

gpu_code read_gpu_code(const elf::file& library) {
  gpu_code found;
  const elf::section* section = library.find_section(".nv_fatbin");
  if (section == nullptr) {
    found.problem = library.path().filename().string() + " has no section .nv_fatbin";
    return found;
  }
  std::uint64_t at = 0;
  int entries = 0;
  int gaps = 0;
  while (at + header_size <= section->size) {
    const std::string header = library.read(*section, at, header_size);
    if (number(header, 0, 4) != magic) {
      // The linker pads between the fat binaries.
      at += 8;
      if (++gaps > most_gaps) {
        found.problem = "the fat binaries have a form that is not known here";
        return found;
      }
      continue;
    }
    const std::uint64_t length = number(header, 6, 2);
    const std::uint64_t size = number(header, 8, 8);
    if (length < header_size || size > section->size - at) {
      found.problem = "a fat binary's header is damaged";
      return found;
    }
    const std::uint64_t end = std::min(at + length + size, section->size);
    fat_binary one;
    for (std::uint64_t entry = at + length; entry + entry_size <= end;) {
      const std::string read = library.read(*section, entry, entry_size);
      const auto kind = static_cast<int>(number(read, 0, 2));
      const std::uint64_t entry_length = number(read, 4, 4);
      const std::uint64_t payload = number(read, 8, 8);
      const auto target = static_cast<int>(number(read, 28, 4));
      if (++entries > most_entries || entry_length < entry_size || payload > section->size) {
        found.problem = "a fat binary's entries are damaged, or too many to read";
        return found;
      }
      if (kind == kind_cubin) {
        one.cubins.push_back(target);
      } else if (kind == kind_ptx) {
        one.ptx.push_back(target);
      }
      entry += entry_length + payload;
    }
    if (!one.cubins.empty() || !one.ptx.empty()) {
      found.binaries.push_back(std::move(one));
    }
    at = end;
  }
  return found;
}

}  // namespace diag_cuda
