// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <assay/abi.h>
#include <c10/core/ScalarType.h>

#include <stdexcept>
#include <string>

#include "host/common/dtype_names.hpp"

namespace assay::engine {

/// LibTorch's code for an assay_dtype. Throws std::invalid_argument for one that this engine does
/// not know.
inline c10::ScalarType scalar_type(std::int32_t dtype) {
  switch (dtype) {
    case ASSAY_DTYPE_FLOAT32:
      return c10::ScalarType::Float;
    case ASSAY_DTYPE_FLOAT64:
      return c10::ScalarType::Double;
    case ASSAY_DTYPE_FLOAT16:
      return c10::ScalarType::Half;
    case ASSAY_DTYPE_BFLOAT16:
      return c10::ScalarType::BFloat16;
    case ASSAY_DTYPE_INT64:
      return c10::ScalarType::Long;
    case ASSAY_DTYPE_INT32:
      return c10::ScalarType::Int;
    case ASSAY_DTYPE_INT16:
      return c10::ScalarType::Short;
    case ASSAY_DTYPE_INT8:
      return c10::ScalarType::Char;
    case ASSAY_DTYPE_UINT8:
      return c10::ScalarType::Byte;
    case ASSAY_DTYPE_BOOL:
      return c10::ScalarType::Bool;
    default:
      throw std::invalid_argument("dtype code " + std::to_string(dtype) + " is unknown");
  }
}

/// PyTorch's name of an element type; LibTorch's own word for one that plans cannot name.
inline std::string name_of(c10::ScalarType type) {
  for (const auto& [code, name] : dtype_names) {
    if (scalar_type(code) == type) {
      return std::string(name);
    }
  }
  return c10::toString(type);
}

}  // namespace assay::engine
