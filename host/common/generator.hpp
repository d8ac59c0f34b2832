// SPDX-License-Identifier: Apache-2.0
//
// The values of a check's inputs: a pure function of the check's name, the input's position, the
// run's seed and the element's index, so that they are the same bits on every device, compiler and
// LibTorch version. The Python reproducers repeat it (host/assay/python_reproducer.cpp).
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

namespace assay {

inline constexpr std::uint64_t golden_gamma = 0x9E3779B97F4A7C15U;

/// The state from which every element of one input follows. `check` is "category/name".
inline std::uint64_t input_seed(std::string_view check, std::uint32_t position,
                                std::uint64_t run_seed) {
  std::uint64_t h = 0xCBF29CE484222325U;  // FNV-1a
  const auto add = [&h](std::string_view text) {
    for (const char c : text) {
      h = (h ^ static_cast<unsigned char>(c)) * 0x00000100000001B3U;
    }
  };
  add(check);
  add("#");
  add(std::to_string(position));
  return h ^ (run_seed * golden_gamma);
}

/// The 64 random bits of element `i` (splitmix64, addressed by index).
inline std::uint64_t draw(std::uint64_t h, std::uint64_t i) {
  std::uint64_t z = h + (i + 1) * golden_gamma;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

/// Nearly normal (the sum of four uniform numbers): mean 0, standard deviation 1, magnitude below
/// 3.5, never 0. No library function with a platform's own rounding is involved.
inline float normal_value(std::uint64_t z) {
  constexpr double scale = 2.6428997921303014e-05;  // 1 / sqrt(4 * (65536^2 - 1) / 12)
  std::int64_t sum = -131070;
  for (int shift = 0; shift < 64; shift += 16) {
    sum += static_cast<std::int64_t>((z >> shift) & 0xFFFFU);
  }
  if (sum == 0) {
    sum = 1;
  }
  return static_cast<float>(static_cast<double>(sum) * scale);
}

/// Evenly in [low, high). A `floating` value is never 0.
inline double uniform_value(std::uint64_t z, double low, double high, bool floating) {
  // volatile: a fused multiply-add, which some compilers would make of this, rounds differently.
  const volatile double offset = static_cast<double>(z >> 11) * 0x1p-53 * (high - low);
  const double value = low + offset;
  if (floating && value == 0.0) {
    return high != 0.0 ? high / 2 : low / 2;
  }
  return value;
}

/// Whole numbers, evenly in [low, high).
inline std::int64_t index_value(std::uint64_t z, double low, double high) {
  return static_cast<std::int64_t>(std::floor(uniform_value(z, low, high, false)));
}

/// Whole numbers in [low, high) that differ along each dimension: `index_sum` is the sum of the
/// element's indices, `first` the bits of draw(h, 0).
inline std::int64_t distinct_value(std::uint64_t first, std::int64_t index_sum, double low,
                                   double high) {
  const auto begin = static_cast<std::int64_t>(std::ceil(low));
  const auto count = static_cast<std::int64_t>(std::ceil(high)) - begin;
  if (count <= 0) {
    return begin;
  }
  const auto start = static_cast<std::int64_t>((first >> 1) % static_cast<std::uint64_t>(count));
  return begin + (start + index_sum) % count;
}

/// True with probability `share_true`.
inline bool mask_value(std::uint64_t z, double share_true) {
  return static_cast<double>(z >> 11) * 0x1p-53 < share_true;
}

}  // namespace assay
