// SPDX-License-Identifier: Apache-2.0
//
// Writes the section .nv_fatbin as nvcc does: headers that are read, payloads that are not.
#pragma once

#include "fake_elf.hpp"

#include <string>
#include <vector>

namespace test {

struct gpu_target {
  int kind;  // 1: PTX, 2: machine code
  int sm;
};

inline std::string fake_fatbin(const std::vector<gpu_target>& targets) {
  std::string entries;
  for (const gpu_target& one : targets) {
    constexpr std::size_t payload = 40;
    put(entries, one.kind, 2);
    put(entries, 0x101, 2);
    put(entries, 64, 4);
    put(entries, payload, 8);
    put(entries, payload - 3, 4);
    put(entries, 0, 4);
    put(entries, 1, 2);
    put(entries, 8, 2);
    put(entries, one.sm, 4);
    entries.append(64 - 32 + payload, '\x50');
  }
  std::string all;
  put(all, 0xBA55ED50, 4);
  put(all, 1, 2);
  put(all, 16, 2);
  put(all, entries.size(), 8);
  return all + entries;
}

}  // namespace test
