// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <assay/abi.h>

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace assay {

inline constexpr std::array<std::pair<std::int32_t, std::string_view>, 10> dtype_names{{
    {ASSAY_DTYPE_FLOAT32, "float32"},
    {ASSAY_DTYPE_FLOAT64, "float64"},
    {ASSAY_DTYPE_FLOAT16, "float16"},
    {ASSAY_DTYPE_BFLOAT16, "bfloat16"},
    {ASSAY_DTYPE_INT64, "int64"},
    {ASSAY_DTYPE_INT32, "int32"},
    {ASSAY_DTYPE_INT16, "int16"},
    {ASSAY_DTYPE_INT8, "int8"},
    {ASSAY_DTYPE_UINT8, "uint8"},
    {ASSAY_DTYPE_BOOL, "bool"},
}};

/// PyTorch's name of a dtype; "" for ASSAY_DTYPE_OF_CHECK and for what is no dtype.
inline std::string_view dtype_name(std::int32_t dtype) {
  for (const auto& [code, name] : dtype_names) {
    if (code == dtype) {
      return name;
    }
  }
  return "";
}

/// The reverse; ASSAY_DTYPE_OF_CHECK for an unknown name.
inline std::int32_t dtype_code(std::string_view name) {
  for (const auto& [code, known] : dtype_names) {
    if (known == name) {
      return code;
    }
  }
  return ASSAY_DTYPE_OF_CHECK;
}

}  // namespace assay
