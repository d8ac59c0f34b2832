// SPDX-License-Identifier: Apache-2.0
#include "plan_values.hpp"

#include <ATen/core/List.h>
#include <ATen/core/jit_type.h>
#include <ATen/ops/scalar_tensor.h>
#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "dtypes.hpp"

namespace assay::engine {

c10::TypePtr without_optional(const c10::TypePtr& type) {
  if (auto optional = type->cast<c10::OptionalType>()) {
    return optional->getElementType();
  }
  return type;
}

c10::TypePtr element_of_list(const c10::TypePtr& type) {
  if (auto list = type->cast<c10::ListType>()) {
    return list->getElementType();
  }
  return nullptr;
}

namespace {

bool is_int(const c10::TypePtr& type) {
  return type->kind() == c10::TypeKind::IntType || type->kind() == c10::TypeKind::SymIntType;
}

bool is_float(const c10::TypePtr& type) {
  return type->kind() == c10::TypeKind::FloatType || type->kind() == c10::TypeKind::SymFloatType;
}

// TorchScript holds a ScalarType as an int, and Argument::type() calls it one.
bool is_dtype(const c10::Argument& argument) {
  return without_optional(argument.real_type())->kind() == c10::TypeKind::ScalarTypeType;
}

// TorchScript holds these as ints, too.
std::optional<std::int64_t> layout_or_memory_format(const c10::Argument& argument,
                                                    std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, c10::Layout>, 4> layouts{{
      {"strided", c10::Layout::Strided},
      {"sparse_coo", c10::Layout::Sparse},
      {"sparse_csr", c10::Layout::SparseCsr},
      {"mkldnn", c10::Layout::Mkldnn},
  }};
  static constexpr std::array<std::pair<std::string_view, c10::MemoryFormat>, 4> formats{{
      {"contiguous_format", c10::MemoryFormat::Contiguous},
      {"preserve_format", c10::MemoryFormat::Preserve},
      {"channels_last", c10::MemoryFormat::ChannelsLast},
      {"channels_last_3d", c10::MemoryFormat::ChannelsLast3d},
  }};
  const auto number = [name](const auto& table) -> std::optional<std::int64_t> {
    const auto found = std::find_if(table.begin(), table.end(),
                                    [name](const auto& entry) { return entry.first == name; });
    return found == table.end() ? std::nullopt
                                : std::optional(static_cast<std::int64_t>(found->second));
  };
  switch (without_optional(argument.real_type())->kind()) {
    case c10::TypeKind::LayoutType:
      return number(layouts);
    case c10::TypeKind::MemoryFormatType:
      return number(formats);
    default:
      return std::nullopt;
  }
}

bool is_number(const assay_value& v) {
  return v.kind == ASSAY_VALUE_INT || v.kind == ASSAY_VALUE_FLOAT || v.kind == ASSAY_VALUE_BOOL;
}

// `x * 2` calls aten::mul.Tensor: the number becomes a tensor that does not decide the result's
// dtype.
c10::IValue wrapped_number(const assay_value& v) {
  const c10::Scalar number = v.kind == ASSAY_VALUE_FLOAT  ? c10::Scalar(v.real)
                             : v.kind == ASSAY_VALUE_BOOL ? c10::Scalar(v.integer != 0)
                                                          : c10::Scalar(v.integer);
  at::Tensor wrapped = at::scalar_tensor(number, at::dtype(number.type()));
  wrapped.unsafeGetTensorImpl()->set_wrapped_number(true);
  return wrapped;
}

// A list of numbers, or of nothing: then the schema says of what.
std::optional<c10::IValue> convert_list(const assay_value& v, const c10::TypePtr& element) {
  const bool empty = v.count == 0;
  const bool whole = v.kind == ASSAY_VALUE_INT_LIST;
  if (is_int(element) && (whole || empty)) {
    return c10::IValue(std::vector<std::int64_t>(v.integers, v.integers + v.count));
  }
  if (is_float(element)) {
    return whole ? c10::IValue(std::vector<double>(v.integers, v.integers + v.count))
                 : c10::IValue(std::vector<double>(v.reals, v.reals + v.count));
  }
  if (element->kind() == c10::TypeKind::NumberType) {
    c10::List<c10::Scalar> list;
    for (std::uint64_t i = 0; i < v.count; ++i) {
      list.push_back(whole ? c10::Scalar(v.integers[i]) : c10::Scalar(v.reals[i]));
    }
    return c10::IValue(std::move(list));
  }
  if (empty && element->kind() == c10::TypeKind::BoolType) {
    return c10::IValue(c10::List<bool>());
  }
  if (empty && element->kind() == c10::TypeKind::TensorType) {
    return c10::IValue(c10::List<at::Tensor>());
  }
  if (empty && without_optional(element)->kind() == c10::TypeKind::TensorType) {
    return c10::IValue(c10::List<std::optional<at::Tensor>>());
  }
  return std::nullopt;
}

}  // namespace

const char* kind_in_words(const assay_value& v) {
  switch (v.kind) {
    case ASSAY_VALUE_NONE:
      return "None";
    case ASSAY_VALUE_INPUT:
      return "a tensor";
    case ASSAY_VALUE_RESULT:
      return "a result";
    case ASSAY_VALUE_BOOL:
      return "a bool";
    case ASSAY_VALUE_INT:
      return "an int";
    case ASSAY_VALUE_FLOAT:
      return "a float";
    case ASSAY_VALUE_STRING:
      return "a string";
    case ASSAY_VALUE_DTYPE:
      return "a dtype";
    case ASSAY_VALUE_INT_LIST:
      return "a list of ints";
    case ASSAY_VALUE_FLOAT_LIST:
      return "a list of floats";
    case ASSAY_VALUE_LIST:
      return "a list of tensors";
    case ASSAY_VALUE_DEVICE:
      return "a device";
    case ASSAY_VALUE_BOOL_LIST:
      return "a list of bools";
    default:
      return "a value of an unknown kind";
  }
}

// The real type names what TorchScript holds as an int: dtypes, layouts, memory formats.
std::string type_in_words(const c10::Argument& argument) {
  const auto kind = without_optional(argument.real_type())->kind();
  const bool coded = is_dtype(argument) || kind == c10::TypeKind::LayoutType ||
                     kind == c10::TypeKind::MemoryFormatType;
  return (coded ? argument.real_type() : argument.type())->str();
}

std::optional<c10::IValue> convert(const assay_value& v, const c10::Argument& argument,
                                   const plan_site& site) {
  const c10::TypePtr type = without_optional(argument.type());
  const c10::TypePtr element = element_of_list(type);
  const bool number = type->kind() == c10::TypeKind::NumberType;
  if (is_number(v) && type->kind() == c10::TypeKind::TensorType) {
    return wrapped_number(v);
  }
  switch (v.kind) {
    case ASSAY_VALUE_NONE:
      if (argument.type()->kind() == c10::TypeKind::OptionalType) {
        return c10::IValue();
      }
      break;
    case ASSAY_VALUE_BOOL:
      if (type->kind() == c10::TypeKind::BoolType) {
        return c10::IValue(v.integer != 0);
      }
      if (number) {
        return c10::IValue(c10::Scalar(v.integer != 0));
      }
      break;
    case ASSAY_VALUE_INT:
      if (is_int(type)) {
        return c10::IValue(v.integer);
      }
      if (is_float(type)) {
        return c10::IValue(static_cast<double>(v.integer));
      }
      if (number) {
        return c10::IValue(c10::Scalar(v.integer));
      }
      if (element != nullptr && is_int(element)) {
        const auto length = static_cast<std::size_t>(argument.N().value_or(1));
        return c10::IValue(std::vector<std::int64_t>(length, v.integer));
      }
      break;
    case ASSAY_VALUE_FLOAT:
      if (is_float(type)) {
        return c10::IValue(v.real);
      }
      if (number) {
        return c10::IValue(c10::Scalar(v.real));
      }
      break;
    case ASSAY_VALUE_STRING:
      if (type->kind() == c10::TypeKind::StringType) {
        return c10::IValue(std::string(v.text == nullptr ? "" : v.text));
      }
      if (const auto code = layout_or_memory_format(argument, v.text == nullptr ? "" : v.text)) {
        return c10::IValue(*code);
      }
      break;
    case ASSAY_VALUE_DTYPE:
      if (is_dtype(argument)) {
        return c10::IValue(static_cast<std::int64_t>(
            v.integer == ASSAY_DTYPE_OF_CHECK ? site.dtype
                                              : scalar_type(static_cast<std::int32_t>(v.integer))));
      }
      break;
    case ASSAY_VALUE_DEVICE:
      if (type->kind() == c10::TypeKind::DeviceObjType) {
        return c10::IValue(site.device);
      }
      break;
    case ASSAY_VALUE_BOOL_LIST:
      if (element != nullptr && element->kind() == c10::TypeKind::BoolType) {
        c10::List<bool> list;
        for (std::uint64_t i = 0; i < v.count; ++i) {
          list.push_back(v.integers[i] != 0);
        }
        return c10::IValue(std::move(list));
      }
      break;
    case ASSAY_VALUE_INT_LIST:
    case ASSAY_VALUE_FLOAT_LIST:
      if (element != nullptr) {
        return convert_list(v, element);
      }
      break;
    default:
      break;
  }
  return std::nullopt;
}

}  // namespace assay::engine
