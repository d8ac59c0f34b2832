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

/// What the command line takes beside PyTorch's own names.
inline constexpr std::array<std::pair<std::string_view, std::string_view>, 7> dtype_aliases{{
    {"float", "float32"},
    {"fp32", "float32"},
    {"half", "float16"},
    {"fp16", "float16"},
    {"double", "float64"},
    {"fp64", "float64"},
    {"bf16", "bfloat16"},
}};

/// PyTorch's name of what an alias stands for; the word itself where it is none.
inline std::string_view dtype_meant(std::string_view word) {
  for (const auto& [alias, name] : dtype_aliases) {
    if (alias == word) {
      return name;
    }
  }
  return word;
}

}  // namespace assay
