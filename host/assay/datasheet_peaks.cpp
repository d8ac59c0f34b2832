// SPDX-License-Identifier: Apache-2.0
#include "datasheet_peaks.hpp"

#include <algorithm>
#include <array>

namespace assay {

namespace {

// Public tables mix sparse, packed-vector and half-sum numbers; these are dense ones. Sources:
// "vendor": its data sheet; "computed": from clocks, units and bus width, at boost clock; "press":
// published specifications. Where several models share an architecture, each has its own line.
// TF32 has half of float16's number where there are units for it.
// MI250: each of the two dies is a device to PyTorch, so that its numbers are halved.
constexpr std::array<datasheet_peak, 35> peaks{{
    {"gfx1032", "RX 6600", 224, 8.9, 17.9, 0, 0, "packed", "computed"},
    {"gfx1032", "RX 6600 XT", 256, 10.6, 21.2, 0, 0, "packed", "press"},
    {"gfx1032", "RX 6650 XT", 280, 10.8, 21.6, 0, 0, "packed", "press"},
    {"gfx1031", "RX 6700 XT", 384, 13.2, 26.4, 0, 0, "packed", "press"},
    {"gfx1030", "RX 6800", 512, 16.2, 32.3, 0, 0, "packed", "press"},
    {"gfx1030", "RX 6800 XT", 512, 20.7, 41.5, 0, 0, "packed", "press"},
    {"gfx1030", "RX 6900 XT", 512, 23.0, 46.1, 0, 0, "packed", "press"},
    {"gfx1102", "RX 7600", 288, 21.8, 43.5, 43.5, 0, "matrix", "computed"},
    {"gfx1101", "RX 7700 XT", 432, 35.2, 70.3, 70.3, 0, "matrix", "computed"},
    {"gfx1101", "RX 7800 XT", 624, 37.3, 74.7, 74.7, 0, "matrix", "computed"},
    {"gfx1100", "RX 7900 XT", 800, 51.5, 103, 103, 0, "matrix", "vendor"},
    {"gfx1100", "RX 7900 XTX", 960, 61.4, 122.8, 122.8, 0, "matrix", "vendor"},
    {"gfx1100", "W7900", 864, 61.3, 122.6, 122.6, 0, "matrix", "computed"},
    {"gfx1200", "RX 9060 XT", 320, 25.6, 102.6, 102.6, 0, "matrix", "computed"},
    {"gfx1201", "RX 9070 XT", 640, 48.7, 194.6, 194.6, 0, "matrix", "computed"},
    {"gfx1151", "8060S", 256, 29.7, 59.4, 59.4, 0, "matrix", "computed"},
    {"gfx906", "MI50", 1024, 13.3, 26.5, 0, 0, "packed", "vendor"},
    {"gfx908", "MI100", 1229, 23.1, 184.6, 92.3, 0, "matrix", "vendor"},
    {"gfx90a", "MI210", 1638, 22.6, 181.0, 181.0, 0, "matrix", "vendor"},
    {"gfx90a", "MI250", 1638.5, 22.65, 181.05, 181.05, 0, "matrix", "vendor"},
    {"gfx90a", "MI250X", 1638.5, 23.95, 191.5, 191.5, 0, "matrix", "vendor"},
    {"gfx942", "MI300A", 5300, 122.6, 980.6, 980.6, 490.3, "matrix", "vendor"},
    {"gfx942", "MI300X", 5300, 163.4, 1307.4, 1307.4, 653.7, "matrix", "vendor"},
    {"gfx942", "MI325X", 6000, 163.4, 1307.4, 1307.4, 653.7, "matrix", "vendor"},
    {"gfx950", "MI355X", 8000, 157.3, 2516.6, 2516.6, 0, "matrix", "vendor"},
    {"sm_86", "RTX 3090", 936, 35.6, 71.2, 71.2, 35.6, "matrix", "vendor"},
    {"sm_89", "RTX 4090", 1008, 82.6, 165.2, 165.2, 82.6, "matrix", "press"},
    {"sm_120", "RTX 5090", 1792, 104.8, 209.5, 209.5, 104.8, "matrix", "press"},
    {"sm_80", "A100-SXM4-40GB", 1555, 19.5, 312, 312, 156, "matrix", "vendor"},
    {"sm_80", "A100-SXM4-80GB", 2039, 19.5, 312, 312, 156, "matrix", "vendor"},
    {"sm_90", "H100 80GB HBM3", 3350, 66.9, 989, 989, 494.7, "matrix", "vendor"},
    {"sm_90", "H100 SXM", 3350, 66.9, 989, 989, 494.7, "matrix", "vendor"},
    {"sm_90", "H100 PCIe", 2000, 51, 756, 756, 378, "matrix", "vendor"},
    {"sm_90", "H200", 4800, 66.9, 989.4, 989.4, 494.7, "matrix", "vendor"},
    {"sm_100", "B200", 8000, 75, 2250, 2250, 1125, "matrix", "vendor"},
}};

bool same_letter(char a, char b) {
  const auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  return lower(a) == lower(b);
}

bool holds(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same_letter) != text.end();
}

}  // namespace

const datasheet_peak* find_datasheet_peak(std::string_view architecture, std::string_view name) {
  const std::string_view target = architecture.substr(0, architecture.find(':'));
  const datasheet_peak* best = nullptr;
  for (const datasheet_peak& peak : peaks) {
    const bool longer = best == nullptr || peak.name_fragment.size() > best->name_fragment.size();
    if (!target.empty() && peak.architecture == target && holds(name, peak.name_fragment) &&
        longer) {
      best = &peak;
    }
  }
  return best;
}

std::optional<double> datasheet_matrix_rate(const datasheet_peak& peak, std::string_view dtype) {
  const double rate = dtype == "float32"    ? peak.float32_tflop_per_s
                      : dtype == "float16"  ? peak.float16_tflop_per_s
                      : dtype == "bfloat16" ? peak.bfloat16_tflop_per_s
                      : dtype == "tf32"     ? peak.tf32_tflop_per_s
                                            : 0.0;
  return rate > 0.0 ? std::optional(rate) : std::nullopt;
}

}  // namespace assay
