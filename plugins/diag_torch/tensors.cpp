// SPDX-License-Identifier: Apache-2.0
#include "diag_torch/classifiers.hpp"
#include "diag_torch/failure_texts.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace diag_torch {
namespace {

constexpr auto npos = std::string_view::npos;

bool has(std::string_view text, std::string_view token) { return text.find(token) != npos; }

/// Calls `look(line)` until it answers.
template <typename looker>
std::optional<assay::diagnosis> first_line(const assay::failure& f, looker look) {
  for (const std::string_view text : texts_of(f)) {
    for (std::size_t from = 0; from < text.size();) {
      const std::size_t end = std::min(text.find('\n', from), text.size());
      std::string_view line = text.substr(from, end - from);
      if (!line.empty() && line.back() == '\r') {
        line.remove_suffix(1);
      }
      if (auto found = look(line)) {
        found->evidence.emplace_back(line);
        return found;
      }
      from = end + 1;
    }
  }
  return std::nullopt;
}

/// What stands between two tokens, if it is short: a name.
std::optional<std::string> between(std::string_view line, std::string_view before,
                                   std::string_view after) {
  const std::size_t at = line.find(before);
  if (at == npos) {
    return std::nullopt;
  }
  const std::size_t from = at + before.size();
  const std::size_t end = line.find(after, from);
  if (end == npos || end == from || end - from > 100) {
    return std::nullopt;
  }
  return std::string(line.substr(from, end - from));
}

/// The device in front: "cuda:0! (when ..." -> "cuda:0".
std::string device_in(std::string_view text) {
  std::size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789:");
  std::string_view found = text.substr(0, end);
  while (!found.empty() && found.back() == ':') {
    found.remove_suffix(1);
  }
  return std::string(found);
}

std::string after(std::string_view line, std::string_view token) {
  const std::size_t at = line.find(token);
  return at == npos ? "" : device_in(line.substr(at + token.size()));
}

/// "torch.cuda.HalfTensor" -> "cuda"; "float" and "c10::Half" say nothing of a device.
std::string device_of_type(std::string_view type) {
  if (!has(type, "Tensor")) {
    return "";
  }
  for (const std::string_view device : {"cuda", "hip", "xpu", "mps", "privateuseone"}) {
    if (has(type, device)) {
      return std::string(device);
    }
  }
  return "cpu";
}

std::pair<std::string, std::string> devices_in(std::string_view line) {
  if (const std::size_t at = line.find("device, but found at least two devices, "); at != npos) {
    return {after(line, "two devices, "), after(line.substr(at), " and ")};
  }
  if (has(line, "to be on the same device, but got ")) {
    return {after(line, " is on "), after(line, "other tensors on ")};
  }
  if (has(line, "Expected object of device type ")) {
    return {after(line, "but got device type "), after(line, "object of device type ")};
  }
  if (has(line, "Input type (") && has(line, "should be the same")) {
    return {device_of_type(between(line, "Input type (", ")").value_or("")),
            device_of_type(between(line, "eight type (", ")")
                               .value_or(between(line, "ias type (", ")").value_or("")))};
  }
  if (const auto indexed = between(line, "as the indexed tensor (", ")")) {
    return {has(line, "indices should be either on cpu") ? "another device" : "", *indexed};
  }
  return {};
}

enum class place { cpu, gpu };

/// LibTorch names the kernel that it looked for after the function that has none.
std::optional<place> place_of(std::string_view kernel, std::string_view dtype) {
  constexpr std::array<std::string_view, 3> gpu{"cuda", "hip", "cub_"};
  // Half types: the GPU has them all, so that the kernels of both names are the CPU's.
  constexpr std::array<std::string_view, 2> shared{"Impl", "_impl"};
  constexpr std::array<std::string_view, 9> cpu{
      "cpu",       "_vml", "unfolded2d", "baddbmm_with_gemm",      "channels_last",
      "slow_conv", "mkl",  "addmv_",     "compute_indices_weights"};
  const auto in = [&](std::string_view token) { return has(kernel, token); };
  if (std::any_of(gpu.begin(), gpu.end(), in)) {
    return place::gpu;
  }
  const bool half = dtype == "Half" || dtype == "BFloat16";
  if (std::any_of(cpu.begin(), cpu.end(), in) ||
      (half && std::any_of(shared.begin(), shared.end(), in))) {
    return place::cpu;
  }
  return std::nullopt;
}

std::optional<place> place_of_failure(const assay::failure& f) {
  if (has(f.trace, "/native/cuda/") || has(f.trace, "/native/hip/")) {
    return place::gpu;
  }
  if (has(f.trace, "/native/cpu/")) {
    return place::cpu;
  }
  if (f.device.empty()) {
    return std::nullopt;
  }
  return f.device == "cpu" ? place::cpu : place::gpu;
}

}  // namespace

std::vector<assay::diagnosis> device_mismatch::classify(const assay::failure& f) {
  auto found = first_line(f, [](std::string_view line) -> std::optional<assay::diagnosis> {
    auto [one, other] = devices_in(line);
    if (one.empty() || other.empty() || one == other) {
      return std::nullopt;
    }
    assay::diagnosis answer{.code = "TORCH-DEVICE-MISMATCH", .confidence = "likely"};
    answer.cause = "One operator got tensors on " + one + " and on " + other;
    const auto method = between(line, "in method ", ")");
    const auto argument = between(line, "for argument ", " in method ");
    if (method) {
      answer.cause += " (" + *method + (argument ? ", argument " + *argument : "") + ")";
    }
    answer.cause += ".";
    return answer;
  });
  return found ? std::vector{*std::move(found)} : std::vector<assay::diagnosis>{};
}

std::vector<assay::diagnosis> dtype_not_implemented::classify(const assay::failure& f) {
  auto found = first_line(f, [&](std::string_view line) -> std::optional<assay::diagnosis> {
    constexpr std::string_view token = "\" not implemented for '";
    const std::size_t at = line.find(token);
    if (at == npos || at == 0) {
      return std::nullopt;
    }
    const std::size_t quote = line.rfind('"', at - 1);
    const auto dtype = between(line, token, "'");
    if (quote == npos || !dtype) {
      return std::nullopt;
    }
    const std::string kernel(line.substr(quote + 1, at - quote - 1));
    // Which flavour of float8 a GPU has is another matter, and the rules'.
    if (has(kernel, "scaled_gemm")) {
      return std::nullopt;
    }
    const auto named = place_of(kernel, *dtype);
    const auto where = named ? named : place_of_failure(f);
    if (!where) {
      return std::nullopt;
    }
    const bool on_cpu = *where == place::cpu;
    assay::diagnosis answer{.code = on_cpu ? "TORCH-DTYPE-NOT-ON-CPU" : "TORCH-DTYPE-NOT-ON-GPU",
                            .confidence = named ? "likely" : "possible"};
    answer.cause = std::string("LibTorch has no ") + (on_cpu ? "CPU" : "GPU") + " kernel of " +
                   kernel + " for " + *dtype + ".";
    if (on_cpu && !f.device.empty() && f.device != "cpu") {
      answer.cause += " The check ran on " + std::string(f.device) +
                      ", so that one of its tensors was on the CPU.";
    } else if (on_cpu && (*dtype == "Half" || *dtype == "BFloat16")) {
      answer.cause += " Programs that ask for it mean to run on a GPU, which was not used.";
    }
    return answer;
  });
  return found ? std::vector{*std::move(found)} : std::vector<assay::diagnosis>{};
}

}  // namespace diag_torch
