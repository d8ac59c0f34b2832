// SPDX-License-Identifier: Apache-2.0
//
// The numbers in PyTorch's out-of-memory texts, of any wording since 1.0.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace diag_torch {

/// Sizes are in bytes. What the text does not say, or cannot mean (NVML's "17179869184.00 GiB"), is
/// absent.
struct out_of_memory_text {
  std::string device{};  // "CUDA", "HIP", "XPU", "MPS", "CPU", "DirectML", as the text has it
  int index = -1;
  std::optional<double> requested{};
  std::optional<double> total{};
  std::optional<double> free{};
  std::optional<double> allocated{};     // by PyTorch's tensors
  std::optional<double> unused{};        // reserved by PyTorch, but not allocated
  std::optional<double> allowed{};       // a limit set by the program
  std::optional<double> this_process{};  // with what other libraries of this process hold
  std::optional<double> elsewhere{};     // MPS: what is not PyTorch's
  std::vector<std::string> processes{};  // "Process 12 has 3.00 GiB memory in use"
  std::string line{};                    // its first line, as it stands

  /// What PyTorch holds, used or not.
  [[nodiscard]] std::optional<double> held() const {
    return allocated ? std::optional(*allocated + unused.value_or(0)) : std::nullopt;
  }
};

// What "more than 1EB" is read as.
constexpr double exbibyte = 1024.0 * 1024 * 1024 * 1024 * 1024 * 1024;

/// The first one of each device in `text`, in order; the first if they name no device.
std::vector<out_of_memory_text> out_of_memories(std::string_view text);

/// The first one in `text`.
std::optional<out_of_memory_text> find_out_of_memory(std::string_view text);

}  // namespace diag_torch
