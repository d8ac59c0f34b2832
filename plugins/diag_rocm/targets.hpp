// SPDX-License-Identifier: Apache-2.0
//
// What is known of AMD's GPU targets, as data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace diag_rocm {

struct target {
  std::string_view name;  // "gfx1032"
  /// Targets of one group run each other's code, or nearly; those of different groups do not.
  std::string_view group;
  bool integrated;  // part of a processor, with the system's memory
  /// HSA_OVERRIDE_GFX_VERSION that has been of use where a build lacks this target (Linux only);
  /// empty: none is known to be safe.
  std::string_view override_value;
  std::string_view second_override{};  // where there is nothing for the first
};

/// Null for a target that this version does not know: then nothing is assumed of it.
[[nodiscard]] const target* find_target(std::string_view name);

/// "gfx1032" of 100302, gfx90a of 90010: decimal major, hexadecimal minor and stepping.
[[nodiscard]] std::string target_name(std::uint32_t major, std::uint32_t minor,
                                      std::uint32_t stepping);
[[nodiscard]] std::string target_name(std::uint32_t gfx_target_version);

/// RDNA and newer: names of four figures.
[[nodiscard]] bool is_rdna(std::string_view name);

}  // namespace diag_rocm
