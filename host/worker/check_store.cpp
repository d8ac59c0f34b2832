// SPDX-License-Identifier: Apache-2.0
#include "check_store.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "host/common/dtype_names.hpp"

namespace assay::worker {

namespace {

using nlohmann::json;

constexpr std::array<const char*, 5> fill_names{"normal", "uniform", "index", "mask", "distinct"};
constexpr std::array<const char*, 13> kind_names{
    "none",  "input",    "result",     "bool", "int",    "float",    "string",
    "dtype", "int_list", "float_list", "list", "device", "bool_list"};
constexpr std::array<const char*, 3> grade_names{"fast", "acceptable", "slow"};
constexpr std::array<const char*, 2> source_names{"operator", "kernel"};

// JSON has no infinities.
json real_or_word(double real) {
  return std::isfinite(real) ? json(real)
         : std::isnan(real)  ? json("nan")
                             : json(real > 0.0 ? "inf" : "-inf");
}

json describe_value(const assay_value& v) {
  json value = nullptr;
  switch (v.kind) {
    case ASSAY_VALUE_INPUT:
    case ASSAY_VALUE_RESULT:
    case ASSAY_VALUE_INT:
      value = v.integer;
      break;
    case ASSAY_VALUE_BOOL:
      value = v.integer != 0;
      break;
    case ASSAY_VALUE_FLOAT:
      value = real_or_word(v.real);
      break;
    case ASSAY_VALUE_STRING:
      value = v.text;
      break;
    case ASSAY_VALUE_DTYPE:
      if (v.integer != ASSAY_DTYPE_OF_CHECK) {
        value = dtype_name(static_cast<std::int32_t>(v.integer));
      }
      break;
    case ASSAY_VALUE_INT_LIST:
      value = std::vector<std::int64_t>(v.integers, v.integers + v.count);
      break;
    case ASSAY_VALUE_BOOL_LIST:
      value = std::vector<bool>(v.integers, v.integers + v.count);
      break;
    case ASSAY_VALUE_FLOAT_LIST:
      value = json::array();
      for (std::uint64_t i = 0; i < v.count; ++i) {
        value.push_back(real_or_word(v.reals[i]));
      }
      break;
    case ASSAY_VALUE_LIST:
      value = json::array();
      for (std::uint64_t i = 0; i < v.count; ++i) {
        value.push_back(describe_value(v.items[i]));
      }
      break;
    default:
      break;
  }
  return {{"kind", kind_names.at(v.kind)},
          {"argument", text_or_null(v.argument)},
          {"value", std::move(value)},
          {"item", v.item}};
}

json describe_calls(const std::vector<const assay_call*>& calls) {
  json plan = json::array();
  for (const assay_call* call : calls) {
    json arguments = json::array();
    for (std::uint32_t i = 0; i < call->argument_count; ++i) {
      arguments.push_back(describe_value(call->arguments[i]));
    }
    plan.push_back({{"op", call->op},
                    {"arguments", std::move(arguments)},
                    {"source", text_or_null(call->source)}});
  }
  return plan;
}

}  // namespace

bool shares_memory(const std::vector<std::int64_t>& sizes,
                   const std::vector<std::int64_t>& strides) {
  std::vector<std::pair<std::int64_t, std::int64_t>> order;  // stride, size
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] > 1 && strides[i] > 0) {
      order.emplace_back(strides[i], sizes[i]);
    }
  }
  std::sort(order.begin(), order.end());
  std::int64_t reach = 0;  // of the dimensions so far
  for (const auto& [stride, size] : order) {
    if (stride <= reach) {
      return true;
    }
    reach += (size - 1) * stride;
  }
  return false;
}

json text_or_null(const char* text) { return text == nullptr ? json() : json(text); }

std::vector<std::string> comma_separated(const std::string& list) {
  std::vector<std::string> parts;
  std::istringstream in(list);
  for (std::string one; std::getline(in, one, ',');) {
    parts.push_back(one);
  }
  return parts;
}

bool is_name(const std::string& text, bool dots) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [dots](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
           (dots && (c == '.' || c == '-'));
  });
}

const char* owned_check::keep(const char* text) {
  return text == nullptr ? nullptr : texts_.emplace_back(text).c_str();
}

owned_check::owned_check(const assay_check* from, const owned_check* of) {
  assay_check given = read_struct(from, "assay_check", offsetof(assay_check, cost));
  if (of != nullptr) {  // its large form
    given.category = of->check_.category;
    given.name = of->check_.name;
    given.dtypes = of->check_.dtypes;
    given.dtype_count = of->check_.dtype_count;
    given.path_count = 0;
    given.large = nullptr;
    given.needs = nullptr;
    given.summary = nullptr;
    given.source = nullptr;
  }
  category_ = text_or_empty(given.category);
  name_ = text_or_empty(given.name);
  if (!is_name(category_, false) || !is_name(name_, false)) {
    throw refused("check '" + id() + "': category and name take a-z, 0-9 and _ only");
  }
  if (given.call_count == 0 || given.dtype_count == 0) {
    throw refused("check '" + id() + "' has no " +
                  (given.call_count == 0 ? "call in its plan" : "dtype"));
  }
  for (std::uint32_t i = 0; i < given.dtype_count; ++i) {
    if (dtype_name(given.dtypes[i]).empty()) {
      throw refused("check '" + id() + "': dtype code " + std::to_string(given.dtypes[i]) +
                    " is unknown to this host");
    }
    dtypes_.push_back(given.dtypes[i]);
  }
  for (std::uint32_t i = 0; i < given.input_count; ++i) {
    copy_input(given.inputs[i], i);
  }
  for (std::uint32_t i = 0; i < given.call_count; ++i) {
    call_list_.push_back(copy_call(given.calls[i], "call " + std::to_string(i)));
  }
  for (std::uint32_t i = 0; i < given.reference_call_count; ++i) {
    reference_list_.push_back(
        copy_call(given.reference_calls[i], "reference call " + std::to_string(i)));
  }
  check_ = given;
  check_.reference_calls = reference_list_.data();
  check_.category = category_.c_str();
  check_.name = name_.c_str();
  check_.inputs = input_list_.data();
  check_.calls = call_list_.data();
  check_.dtypes = dtypes_.data();
  check_.summary = keep(given.summary);
  check_.source = keep(given.source);
  copy_expectations(given);
}

void owned_check::copy_expectations(const assay_check& given) {
  const std::string where = "check '" + id() + "'";
  const auto sane = [](double value) { return std::isfinite(value) && value >= 0.0; };
  if (given.cost != nullptr) {
    cost_ = read_struct(given.cost, "assay_cost");
    if (!sane(cost_.elements) || !sane(cost_.bytes) || !sane(cost_.flops)) {
      throw refused(where + ": its cost must be finite and not negative");
    }
    check_.cost = &cost_;
  }
  if (given.accuracy != nullptr) {
    accuracy_ = read_struct(given.accuracy, "assay_accuracy");
    if (!sane(accuracy_.roundings) || !sane(accuracy_.terms)) {
      throw refused(where + ": its accuracy must be finite and not negative");
    }
    if (accuracy_.picks_input >= static_cast<std::int64_t>(given.input_count)) {
      throw refused(where + ": its outputs pick from input " +
                    std::to_string(accuracy_.picks_input) + ", which it does not have");
    }
    check_.accuracy = &accuracy_;
  }
  for (std::uint32_t i = 0; i < given.path_count; ++i) {
    copy_path(given.paths[i], i);
  }
  check_.paths = path_list_.data();
  if (given.needs != nullptr) {
    needs_ = std::make_unique<owned_requirements>(given.needs, where);
    check_.needs = &needs_->c_form();
  }
  if (given.large != nullptr) {
    large_ = std::make_unique<owned_check>(given.large, this);
    check_.large = &large_->check_;
  }
}

void owned_check::copy_path(const assay_path* from, std::uint32_t position) {
  const std::string where = "check '" + id() + "', path " + std::to_string(position);
  assay_path path = read_struct(from, "assay_path");
  if (path.name == nullptr || path.pattern == nullptr || *path.name == 0 || *path.pattern == 0) {
    throw refused(where + " has no name or no pattern");
  }
  if (path.grade < 0 || path.grade >= static_cast<std::int32_t>(grade_names.size()) ||
      path.source < 0 || path.source >= static_cast<std::int32_t>(source_names.size())) {
    throw refused(where + " ('" + path.name + "'): its grade or source is unknown to this host");
  }
  path.name = keep(path.name);
  path.pattern = keep(path.pattern);
  path_list_.push_back(&paths_.emplace_back(path));
}

void owned_check::copy_input(const assay_input* from, std::uint32_t position) {
  const std::string where = "check '" + id() + "', input " + std::to_string(position);
  assay_input input = read_struct(from, "assay_input", offsetof(assay_input, strides));
  if (input.dtype != ASSAY_DTYPE_OF_CHECK && dtype_name(input.dtype).empty()) {
    throw refused(where + ": dtype code " + std::to_string(input.dtype) + " is unknown");
  }
  if (input.fill < 0 || static_cast<std::size_t>(input.fill) >= fill_names.size()) {
    throw refused(where + ": fill " + std::to_string(input.fill) + " is unknown");
  }
  const bool ranged = input.fill == ASSAY_FILL_UNIFORM || input.fill == ASSAY_FILL_INDEX ||
                      input.fill == ASSAY_FILL_DISTINCT;
  if (ranged && !(input.low < input.high)) {
    throw refused(where + ": the range is empty, low must be below high");
  }
  if (input.fill == ASSAY_FILL_MASK && !(input.low > 0.0 && input.low < 1.0)) {
    throw refused(where + ": a mask's share of true lies between 0 and 1");
  }
  auto& sizes = integers_.emplace_back(input.sizes, input.sizes + input.dimensions);
  const auto negative = [](std::int64_t n) { return n < 0; };
  if (std::any_of(sizes.begin(), sizes.end(), negative)) {
    throw refused(where + ": no size may be below 0");
  }
  input.sizes = sizes.data();
  if (input.strides != nullptr) {
    auto& strides = integers_.emplace_back(input.strides, input.strides + input.dimensions);
    if (std::any_of(strides.begin(), strides.end(), negative)) {
      throw refused(where + ": no stride may be below 0");
    }
    input.strides = strides.data();
    if (shares_memory(sizes, strides)) {
      throw refused(where +
                    ": with these strides two elements share memory; only a stride of 0 may");
    }
  }
  input_list_.push_back(&inputs_.emplace_back(input));
}

const assay_call* owned_check::copy_call(const assay_call* from, const std::string& what) {
  const std::string where = "check '" + id() + "', " + what;
  assay_call call = read_struct(from, "assay_call", offsetof(assay_call, source));
  call.source = keep(call.source);
  if (call.op == nullptr || std::strstr(call.op, "::") == nullptr) {
    throw refused(where + ": '" + text_or_empty(call.op) +
                  "' is no operator name, it reads like aten::add.Tensor");
  }
  call.op = keep(call.op);
  std::vector<assay_value> arguments;
  for (std::uint32_t i = 0; i < call.argument_count; ++i) {
    arguments.push_back(copy_value(call.arguments[i], where, false));
  }
  call.arguments = values_.emplace_back(std::move(arguments)).data();
  return &calls_.emplace_back(call);
}

assay_value owned_check::copy_value(const assay_value& from, const std::string& where,
                                    bool in_list) {
  assay_value v = from;
  if (v.kind >= kind_names.size()) {
    throw refused(where + ": a value has kind " + std::to_string(v.kind) +
                  ", which this host does not know");
  }
  if (in_list && v.kind == ASSAY_VALUE_LIST) {
    throw refused(where + ": a list may not hold a list");
  }
  if (v.kind == ASSAY_VALUE_DTYPE && v.integer != ASSAY_DTYPE_OF_CHECK &&
      dtype_name(static_cast<std::int32_t>(v.integer)).empty()) {
    throw refused(where + ": dtype code " + std::to_string(v.integer) + " is unknown");
  }
  v.argument = keep(v.argument);
  v.text = keep(v.text == nullptr ? "" : v.text);
  if (v.kind == ASSAY_VALUE_INT_LIST || v.kind == ASSAY_VALUE_BOOL_LIST) {
    v.integers = integers_.emplace_back(v.integers, v.integers + v.count).data();
  } else if (v.kind == ASSAY_VALUE_FLOAT_LIST) {
    v.reals = reals_.emplace_back(v.reals, v.reals + v.count).data();
  } else if (v.kind == ASSAY_VALUE_LIST) {
    std::vector<assay_value> items;
    for (std::uint64_t i = 0; i < v.count; ++i) {
      items.push_back(copy_value(v.items[i], where, true));
    }
    v.items = values_.emplace_back(std::move(items)).data();
  }
  return v;
}

json owned_check::describe() const {
  json dtypes = json::array();
  for (const std::int32_t dtype : dtypes_) {
    dtypes.push_back(dtype_name(dtype));
  }
  json paths = json::array();
  for (const assay_path& path : paths_) {
    paths.push_back({{"name", path.name},
                     {"grade", grade_names.at(static_cast<std::size_t>(path.grade))},
                     {"source", source_names.at(static_cast<std::size_t>(path.source))},
                     {"pattern", path.pattern}});
  }
  json description = describe_sizes();
  description["dtypes"] = std::move(dtypes);
  description["paths"] = std::move(paths);
  description["summary"] = text_or_null(check_.summary);
  description["source"] = text_or_null(check_.source);
  description["weight"] = check_.weight;
  description["needs"] = needs_ ? needs_->describe() : json();
  description["large"] = large_ ? large_->describe_sizes() : json();
  return description;
}

// What differs between a check and its large form.
json owned_check::describe_sizes() const {
  json inputs = json::array();
  for (const assay_input& input : inputs_) {
    const auto dtype = dtype_name(input.dtype);
    inputs.push_back(
        {{"dtype", dtype.empty() ? json() : json(dtype)},
         {"fill", fill_names.at(static_cast<std::size_t>(input.fill))},
         {"sizes", std::vector<std::int64_t>(input.sizes, input.sizes + input.dimensions)},
         {"strides",
          input.strides == nullptr
              ? json()
              : json(std::vector<std::int64_t>(input.strides, input.strides + input.dimensions))},
         {"low", input.low},
         {"high", input.high}});
  }
  json cost = nullptr;
  if (check_.cost != nullptr) {
    cost = {{"elements", cost_.elements},
            {"bytes", cost_.bytes},
            {"flops", cost_.flops},
            {"matrix", cost_.matrix != 0}};
  }
  json accuracy = nullptr;
  if (check_.accuracy != nullptr) {
    accuracy = {{"exact", (accuracy_.flags & ASSAY_ACCURACY_EXACT) != 0},
                {"contraction", (accuracy_.flags & ASSAY_ACCURACY_CONTRACTION) != 0},
                {"incomparable", (accuracy_.flags & ASSAY_ACCURACY_INCOMPARABLE) != 0},
                {"roundings", accuracy_.roundings},
                {"terms", accuracy_.terms},
                {"picks_input", accuracy_.picks_input < 0 ? json() : json(accuracy_.picks_input)},
                {"picks_dimension", accuracy_.picks_dimension}};
  }
  return {{"inputs", std::move(inputs)},
          {"plan", describe_calls(call_list_)},
          {"reference", reference_list_.empty() ? json() : describe_calls(reference_list_)},
          {"cost", std::move(cost)},
          {"accuracy", std::move(accuracy)}};
}

}  // namespace assay::worker
