// SPDX-License-Identifier: Apache-2.0
#include "diag_torch/shared_memory.hpp"

#include "diag_torch/failure_texts.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <string_view>

namespace diag_torch {
namespace {

constexpr auto npos = std::string_view::npos;
constexpr double gibibyte = 1024.0 * 1024 * 1024;

// As of 2026-11: processors with a GPU inside, and boards whose GPU shares the memory.
constexpr std::array<std::string_view, 18> architectures{
    "gfx902",  "gfx909",  "gfx90c",  "gfx1013", "gfx1033", "gfx1035",
    "gfx1036", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153",
    "sm_53",   "sm_62",   "sm_72",   "sm_87",   "sm_110",  "sm_121"};
constexpr std::array<std::string_view, 9> names{
    "Radeon Graphics", "Radeon 8050S", "Radeon 8060S", "Ryzen AI",   "Instinct MI300A",
    "NVIDIA GB10",     "Jetson",       "Orin",         "NVIDIA Thor"};
// What AMD's cards have, in GiB. A card reports a little less than that.
constexpr std::array<double, 20> card_sizes{2,  3,  4,  6,  8,  10, 12,  16,  20,  24,
                                            32, 36, 48, 64, 72, 96, 144, 192, 256, 288};

bool is_shared_architecture(std::string_view name) {
  return std::any_of(architectures.begin(), architectures.end(), [&](std::string_view one) {
    return name.substr(0, one.size()) == one &&
           (name.size() == one.size() ||
            std::isalnum(static_cast<unsigned char>(name[one.size()])) == 0);
  });
}

/// Every gfx target that the text names is one that shares memory, and there is one.
bool names_only_shared(std::string_view text) {
  bool any = false;
  for (std::size_t at = text.find("gfx"); at != npos; at = text.find("gfx", at + 3)) {
    if (at + 3 >= text.size() || std::isdigit(static_cast<unsigned char>(text[at + 3])) == 0) {
      continue;
    }
    if (!is_shared_architecture(text.substr(at))) {
      return false;
    }
    any = true;
  }
  return any;
}

/// The kernel's own account: "amdgpu: 98304M of VRAM memory ready".
double kernels_vram(std::string_view text) {
  const std::size_t at = text.find("M of VRAM memory ready");
  if (at == npos) {
    return 0;
  }
  std::size_t from = at;
  while (from > 0 && std::isdigit(static_cast<unsigned char>(text[from - 1])) != 0) {
    --from;
  }
  return std::atof(std::string(text.substr(from, at - from)).c_str()) * 1024 * 1024;
}

bool has_size_of_a_card(double total) {
  return std::any_of(card_sizes.begin(), card_sizes.end(), [&](double size) {
    return total <= size * gibibyte && total >= size * 0.985 * gibibyte;
  });
}

}  // namespace

shared_memory shares_memory(const out_of_memory_text& text, const assay::failure& f) {
  const bool hip = text.device == "HIP";
  if (!text.total || (!hip && text.device != "CUDA")) {
    return {};
  }
  if (text.free && *text.free > 1.01 * *text.total) {
    return {.sure = true,
            .because =
                "more is free than there is in all, which only a GPU that "
                "uses the machine's memory says"};
  }
  if (is_shared_architecture(f.architecture) ||
      std::any_of(names.begin(), names.end(),
                  [&](std::string_view name) { return f.device_name.find(name) != npos; })) {
    return {.sure = true,
            .because =
                "this GPU uses the machine's memory, of which it gets no more "
                "than the driver's limit and what other programs leave"};
  }
  // Known, and a card.
  if (!f.architecture.empty()) {
    return {};
  }
  for (const std::string_view part : texts_of(f)) {
    if (kernels_vram(part) > 1.5 * *text.total) {
      return {.sure = true,
              .because =
                  "the kernel set more memory apart for the GPU than that, so "
                  "that the total is that of the machine's other memory"};
    }
    if (part.find("NvMapMemAlloc") != npos || (hip && names_only_shared(part))) {
      return {.sure = true,
              .because =
                  "this GPU uses the machine's memory, of which it gets no "
                  "more than the driver's limit and what other programs "
                  "leave"};
    }
  }
  if (hip && *text.total < gibibyte) {
    return {.sure = true,
            .because =
                "no card has so little memory: it is what the firmware sets apart for a GPU that "
                "uses the machine's"};
  }
  if (hip && !has_size_of_a_card(*text.total)) {
    // Memory that is free and refused all the same: two signs of one thing.
    const bool refused = text.free && text.requested && *text.free >= 1.1 * *text.requested;
    return {.sure = refused,
            .perhaps = true,
            .because =
                "no AMD card has that much memory, so that this GPU seems to use the "
                "machine's, of which it gets no more than the driver's limit and what other "
                "programs leave"};
  }
  return {};
}

}  // namespace diag_torch
