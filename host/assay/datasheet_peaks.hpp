// SPDX-License-Identifier: Apache-2.0
//
// What vendors say their devices reach. A second, labelled number in the report: the ceilings that
// assay measures are the first.
#pragma once

#include <optional>
#include <string_view>

namespace assay {

struct datasheet_peak {
  std::string_view architecture;   // "gfx1100", "sm_90"
  std::string_view name_fragment;  // in the device's name, which tells models apart
  double memory_gb_per_s;
  double float32_tflop_per_s;   // of the vector units
  double float16_tflop_per_s;   // dense matrix products, sums in float32; 0: not known
  double bfloat16_tflop_per_s;  // likewise
  double tf32_tflop_per_s;      // likewise; 0: not known, or there is none
  std::string_view kind;        // what the half types' number is: "matrix" or "packed" vectors
  std::string_view source;
};

/// When the numbers were looked up.
inline constexpr std::string_view datasheet_date = "2026-11-30";

/// The entry whose architecture this is ("gfx90a:sramecc+:xnack-" is a gfx90a) and whose fragment
/// is the longest that the name holds; null when there is none.
const datasheet_peak* find_datasheet_peak(std::string_view architecture, std::string_view name);

/// The number for a dtype's matrix products, where there is one.
std::optional<double> datasheet_matrix_rate(const datasheet_peak& peak, std::string_view dtype);

}  // namespace assay
