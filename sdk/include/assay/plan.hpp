// SPDX-License-Identifier: Apache-2.0
//
// Inputs and plans: how a check says what to run. Values only; nothing here runs anything.
#pragma once

#include <assay/abi.h>

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace assay {

/// Element types, by PyTorch's names. `of_check` is the dtype under which the check is run.
enum class dtype : std::int32_t {
  of_check = ASSAY_DTYPE_OF_CHECK,
  float32 = ASSAY_DTYPE_FLOAT32,
  float64 = ASSAY_DTYPE_FLOAT64,
  float16 = ASSAY_DTYPE_FLOAT16,
  bfloat16 = ASSAY_DTYPE_BFLOAT16,
  int64 = ASSAY_DTYPE_INT64,
  int32 = ASSAY_DTYPE_INT32,
  int16 = ASSAY_DTYPE_INT16,
  int8 = ASSAY_DTYPE_INT8,
  uint8 = ASSAY_DTYPE_UINT8,
  boolean = ASSAY_DTYPE_BOOL,
};

using shape = std::vector<std::int64_t>;  // sizes, outermost first
using ints = std::vector<std::int64_t>;

/// How many elements a tensor of these sizes has: for check::moves() and its like.
inline double elements_of(const shape& sizes) {
  double count = 1.0;
  for (const std::int64_t size : sizes) {
    count *= static_cast<double>(size);
  }
  return count;
}

using floats = std::vector<double>;

/// One input tensor; see assay_input for what the engine promises about its values.
struct input {
  shape sizes;
  dtype type = dtype::of_check;
  assay_fill fill = ASSAY_FILL_NORMAL;
  double low = 0.0;
  double high = 0.0;
  shape strides = {};  // in elements; empty: contiguous
};

/// Normally distributed, mean 0, standard deviation 1, magnitude below 3.5, never 0.
inline input randn(shape sizes, dtype type = dtype::of_check) {
  return {std::move(sizes), type, ASSAY_FILL_NORMAL, 0.0, 0.0, {}};
}

/// Evenly distributed in [low, high), never 0.
inline input uniform(shape sizes, double low, double high, dtype type = dtype::of_check) {
  return {std::move(sizes), type, ASSAY_FILL_UNIFORM, low, high, {}};
}

/// int64 indices, evenly in [0, end): always in range for a dimension of size `end`.
inline input indices(shape sizes, std::int64_t end) {
  return {std::move(sizes), dtype::int64, ASSAY_FILL_INDEX, 0.0, static_cast<double>(end), {}};
}

/// As indices(), and different from each other along every dimension whose size is at most `end`:
/// for what must not write twice to one place (scatter).
inline input distinct_indices(shape sizes, std::int64_t end) {
  return {std::move(sizes), dtype::int64, ASSAY_FILL_DISTINCT, 0.0, static_cast<double>(end), {}};
}

/// The same input with these strides, in elements, one a dimension.
inline input strided(input of, shape strides) {
  of.strides = std::move(strides);
  return of;
}

/// bool, true with probability `share_true` (0 < share_true < 1).
inline input mask(shape sizes, double share_true = 0.5) {
  return {std::move(sizes), dtype::boolean, ASSAY_FILL_MASK, share_true, 0.0, {}};
}

struct none_t {};
inline constexpr none_t none{};  // None, for an optional argument

struct device_t {};
inline constexpr device_t device_under_test{};  // where the check runs, for an argument Device

/// A list of bools, for an argument such as the output_mask of a convolution's backward.
struct bools {
  std::vector<bool> items;
  bools(std::initializer_list<bool> list) : items(list) {}
  explicit bools(std::vector<bool> list) : items(std::move(list)) {}
};

/// One argument of a call: a constant, an input, or what an earlier call returned.
class value {
 public:
  value(none_t) : kind_(ASSAY_VALUE_NONE) {}
  value(std::same_as<bool> auto b) : kind_(ASSAY_VALUE_BOOL), integer_(b ? 1 : 0) {}
  template <std::integral Int>
  requires(!std::same_as<Int, bool>) value(Int i)
      : kind_(ASSAY_VALUE_INT), integer_(static_cast<std::int64_t>(i)) {}
  value(std::floating_point auto f) : kind_(ASSAY_VALUE_FLOAT), real_(f) {}
  value(const char* text) : kind_(ASSAY_VALUE_STRING), text_(text) {}
  value(std::string text) : kind_(ASSAY_VALUE_STRING), text_(std::move(text)) {}
  value(dtype type) : kind_(ASSAY_VALUE_DTYPE), integer_(static_cast<std::int32_t>(type)) {}
  value(ints list) : kind_(ASSAY_VALUE_INT_LIST), integers_(std::move(list)) {}
  value(device_t) : kind_(ASSAY_VALUE_DEVICE) {}
  value(const bools& list)
      : kind_(ASSAY_VALUE_BOOL_LIST), integers_(list.items.begin(), list.items.end()) {}
  value(floats list) : kind_(ASSAY_VALUE_FLOAT_LIST), reals_(std::move(list)) {}

  friend value in(std::uint32_t position);
  friend value result(std::uint32_t call, std::uint32_t item);
  friend value list(std::vector<value> tensors);
  friend value arg(std::string name, value v);

  /// The C form. It points into this object and into `items`, which must outlive it.
  [[nodiscard]] assay_value c_form(std::vector<std::vector<assay_value>>& items) const {
    assay_value c{};
    c.kind = kind_;
    c.item = item_;
    c.argument = argument_.empty() ? nullptr : argument_.c_str();
    c.integer = integer_;
    c.real = real_;
    c.text = text_.c_str();
    c.integers = integers_.data();
    c.reals = reals_.data();
    c.count = kind_ == ASSAY_VALUE_FLOAT_LIST ? reals_.size() : integers_.size();
    if (kind_ == ASSAY_VALUE_LIST) {
      std::vector<assay_value> children;
      children.reserve(items_.size());
      for (const value& v : items_) {
        children.push_back(v.c_form(items));
      }
      c.count = children.size();
      items.push_back(std::move(children));
      c.items = items.back().data();
    }
    return c;
  }

 private:
  explicit value(assay_value_kind kind) : kind_(kind) {}

  assay_value_kind kind_;
  std::uint32_t item_ = 0;
  std::string argument_;
  std::int64_t integer_ = 0;
  double real_ = 0.0;
  std::string text_;
  ints integers_;
  floats reals_;
  std::vector<value> items_;
};

/// The check's input at this position, from 0.
inline value in(std::uint32_t position) {
  value v(ASSAY_VALUE_INPUT);
  v.integer_ = position;
  return v;
}

/// What the call at this position returned, from 0; `item` picks one of several results, whether
/// the operator returns a tuple or a list.
inline value result(std::uint32_t call, std::uint32_t item = 0) {
  value v(ASSAY_VALUE_RESULT);
  v.integer_ = call;
  v.item_ = item;
  return v;
}

/// A list of tensors, each an in(...), a result(...), or none where the schema has Tensor?[].
inline value list(std::vector<value> tensors) {
  value v(ASSAY_VALUE_LIST);
  v.items_ = std::move(tensors);
  return v;
}

/// An argument by its name in the operator's schema. Named arguments follow the positional ones.
inline value arg(std::string name, value v) {
  v.argument_ = std::move(name);
  return v;
}

/// One operator call of a plan.
struct operator_call {
  std::string op;
  std::vector<value> arguments;
  std::string source = {};  // where it is written, "pack.assay.toml:17"; errors begin with it
};

/// `op` is the schema name with its overload, "aten::add.Tensor". Arguments that are left out take
/// the schema's default; the engine checks them against the schema before anything runs.
template <typename... Arguments>
operator_call call(std::string op, Arguments&&... arguments) {
  return {std::move(op), {value(std::forward<Arguments>(arguments))...}};
}

}  // namespace assay
