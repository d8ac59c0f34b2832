// SPDX-License-Identifier: Apache-2.0
#include "targets.hpp"

#include <algorithm>
#include <array>

#include "text.hpp"

namespace diag_rocm {

namespace {

// As of 2026-11. Groups follow LLVM's generic targets, but where members of one have other register
// files (gfx11) it is split.
constexpr std::array known{
    target{"gfx803", "8", false, ""},
    target{"gfx900", "9.0", false, ""},
    target{"gfx902", "9.0", true, "9.0.0"},
    target{"gfx904", "9.0", false, "9.0.0"},
    target{"gfx906", "9.0.6", false, ""},
    target{"gfx908", "9.0.8", false, ""},
    target{"gfx909", "9.0", true, "9.0.0"},
    target{"gfx90a", "9.0.a", false, ""},
    target{"gfx90c", "9.0", true, "9.0.0"},
    target{"gfx942", "9.4", false, ""},
    target{"gfx950", "9.5", false, ""},
    target{"gfx1010", "10.1", false, ""},
    target{"gfx1011", "10.1", false, "10.1.0"},
    target{"gfx1012", "10.1", false, "10.1.0"},
    target{"gfx1030", "10.3", false, ""},
    target{"gfx1031", "10.3", false, "10.3.0"},
    target{"gfx1032", "10.3", false, "10.3.0"},
    target{"gfx1033", "10.3", true, "10.3.0"},
    target{"gfx1034", "10.3", false, "10.3.0"},
    target{"gfx1035", "10.3", true, "10.3.0"},
    target{"gfx1036", "10.3", true, "10.3.0"},
    target{"gfx1100", "11.0", false, ""},
    target{"gfx1101", "11.0", false, "11.0.0"},
    target{"gfx1102", "11.0", false, "11.0.0"},
    target{"gfx1103", "11.0", true, "11.0.2", "11.0.0"},
    target{"gfx1150", "11.5", true, ""},
    target{"gfx1151", "11.5", true, ""},
    target{"gfx1152", "11.5", true, ""},
    target{"gfx1153", "11.5", true, ""},
    target{"gfx1200", "12.0", false, "12.0.1"},
    target{"gfx1201", "12.0", false, ""},
};

}  // namespace

const target* find_target(std::string_view name) {
  const auto* const found =
      std::find_if(known.begin(), known.end(), [&](const target& t) { return t.name == name; });
  return found == known.end() ? nullptr : found;
}

std::string target_name(std::uint32_t major, std::uint32_t minor, std::uint32_t stepping) {
  return "gfx" + std::to_string(major) + hex(minor) + hex(stepping);
}

std::string target_name(std::uint32_t gfx_target_version) {
  return target_name(gfx_target_version / 10000 % 100, gfx_target_version / 100 % 100,
                     gfx_target_version % 100);
}

bool is_rdna(std::string_view name) {
  return name.size() == std::string_view("gfx1032").size() && name.substr(0, 4) == "gfx1";
}

}  // namespace diag_rocm
