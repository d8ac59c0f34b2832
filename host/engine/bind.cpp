// SPDX-License-Identifier: Apache-2.0
#include "bind.hpp"

#include <ATen/core/List.h>
#include <ATen/core/enum_tag.h>
#include <ATen/core/jit_type.h>
#include <c10/core/ScalarType.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "host/common/nearest.hpp"
#include "plan_values.hpp"

namespace assay::engine {

namespace {

c10::OperatorName operator_name(const std::string& text) {
  const auto colons = text.find("::");
  const auto dot = text.find('.', colons == std::string::npos ? 0 : colons);
  if (dot == std::string::npos) {
    return {text, ""};
  }
  return {text.substr(0, dot), text.substr(dot + 1)};
}

std::string full_name(const c10::OperatorName& name) {
  return name.overload_name.empty() ? name.name : name.name + "." + name.overload_name;
}

std::string source_of(const assay_call& call) {
  return call.source == nullptr ? "" : std::string(call.source) + ": ";
}

std::string place_of_call(const assay_call& call, const char* word, std::size_t position) {
  return source_of(call) + word + " " + std::to_string(position) + ", " + call.op;
}

c10::OperatorHandle find_operator(const std::string& text, const std::string& source) {
  const c10::OperatorName wanted = operator_name(text);
  if (auto found = c10::Dispatcher::singleton().findSchema(wanted)) {
    return *found;
  }
  const auto colons = text.find("::");
  const std::string space = colons == std::string::npos ? "" : text.substr(0, colons + 2);
  std::set<std::string> names, names_in_space, overload_names;
  std::string overloads;
  for (const c10::OperatorName& known : c10::Dispatcher::singleton().getAllOpNames()) {
    const std::string name = full_name(known);
    if (known.name == wanted.name) {
      overloads += (overloads.empty() ? "" : ", ") + name;
      overload_names.insert(name);
    }
    names.insert(name);
    if (name.starts_with(space)) {
      names_in_space.insert(name.substr(space.size()));
    }
  }
  const std::string lacks = source + "this LibTorch has no operator " + text;
  if (!overloads.empty()) {
    throw missing_operator(lacks + "; it has " + overloads + did_you_mean(text, overload_names));
  }
  if (names_in_space.empty()) {
    throw missing_operator(lacks + did_you_mean(text, names));
  }
  // "aten::" is alike in all of them, and must not make what follows look near.
  const std::string near = nearest(text.substr(space.size()), names_in_space);
  throw missing_operator(lacks + (near.empty() ? "" : "; did you mean '" + space + near + "'?"));
}

}  // namespace

class call_binder {
 public:
  call_binder(const assay_check& check, std::uint32_t position, const plan_site& site,
              const std::vector<bound_plan::bound_call>& earlier)
      : check_(check), position_(position), site_(site), earlier_(earlier) {}

  bound_plan::bound_call bind() {
    const assay_call& call = *check_.calls[position_];
    op_ = call.op;
    const c10::OperatorHandle handle = find_operator(op_, source_of(call));
    bound_plan::bound_call bound{&call, handle, {}, {}, {}};
    const auto& wanted = handle.schema().arguments();
    std::vector<const assay_value*> given(wanted.size(), nullptr);
    std::size_t next = 0;
    for (std::uint32_t i = 0; i < call.argument_count; ++i) {
      const assay_value& v = call.arguments[i];
      const std::size_t at = v.argument == nullptr ? next++ : place_of(v.argument, wanted);
      if (at >= wanted.size()) {
        throw plan_error(where() + " takes " + std::to_string(wanted.size()) +
                         (wanted.size() == 1 ? " argument" : " arguments") +
                         ", the plan gives more: " + signature(handle));
      }
      if (v.argument == nullptr && wanted[at].kwarg_only()) {
        throw plan_error(where() + ": argument '" + wanted[at].name() +
                         "' goes by its name only, the plan gives it by position");
      }
      if (given[at] != nullptr) {
        throw plan_error(where() + ": argument '" + wanted[at].name() + "' is given twice");
      }
      given[at] = &v;
    }
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      bound.slots.push_back(given[i] == nullptr ? left_out(wanted[i], handle)
                                                : make_slot(*given[i], wanted[i]));
    }
    bound.results.reserve(std::max(wanted.size(), handle.schema().returns().size()));
    return bound;
  }

 private:
  using slot = bound_plan::slot;
  using slot_kind = bound_plan::slot_kind;

  [[nodiscard]] std::string where() const {
    return place_of_call(*check_.calls[position_], site_.call_word, position_);
  }

  static std::string signature(const c10::OperatorHandle& handle) {
    std::string text;
    for (const c10::Argument& a : handle.schema().arguments()) {
      text += (text.empty() ? "" : ", ") + a.name();
    }
    return handle.schema().name() + "(" + text + ")";
  }

  [[nodiscard]] std::size_t place_of(const std::string& name,
                                     const std::vector<c10::Argument>& wanted) const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i].name() == name) {
        return i;
      }
      names.push_back(wanted[i].name());
    }
    throw plan_error(where() + " has no argument '" + name + "'" + did_you_mean(name, names));
  }

  [[nodiscard]] slot left_out(const c10::Argument& wanted,
                              const c10::OperatorHandle& handle) const {
    if (!wanted.default_value()) {
      throw plan_error(where() + ": argument '" + wanted.name() +
                       "' is missing and has no default: " + signature(handle));
    }
    slot s;
    s.constant = *wanted.default_value();
    return s;
  }

  [[nodiscard]] slot make_slot(const assay_value& v, const c10::Argument& wanted) const {
    const c10::TypePtr type = without_optional(wanted.type());
    if (v.kind == ASSAY_VALUE_INPUT || v.kind == ASSAY_VALUE_RESULT) {
      slot s = reference(v);
      if (v.kind == ASSAY_VALUE_INPUT && type->kind() != c10::TypeKind::TensorType) {
        throw wrong_type(v, wanted);
      }
      return s;
    }
    if (v.kind == ASSAY_VALUE_LIST) {
      const c10::TypePtr element = element_of_list(type);
      if (element == nullptr || without_optional(element)->kind() != c10::TypeKind::TensorType) {
        throw wrong_type(v, wanted);
      }
      slot s;
      s.kind = slot_kind::input_list;
      s.optional_items = element->kind() == c10::TypeKind::OptionalType;
      for (std::uint64_t i = 0; i < v.count; ++i) {
        const assay_value& item = v.items[i];
        if (item.kind == ASSAY_VALUE_NONE && s.optional_items) {
          s.items.emplace_back();
          continue;
        }
        if (item.kind != ASSAY_VALUE_INPUT && item.kind != ASSAY_VALUE_RESULT) {
          throw plan_error(where() + ": argument '" + wanted.name() +
                           "' wants a list of tensors, item " + std::to_string(i) + " is " +
                           kind_in_words(item));
        }
        if (item.kind == ASSAY_VALUE_RESULT) {
          s.kind = slot_kind::list;
        }
        s.items.push_back(reference(item));
      }
      return s;
    }
    std::optional<c10::IValue> constant = convert(v, wanted, site_);
    if (!constant) {
      throw wrong_type(v, wanted);
    }
    slot s;
    s.constant = std::move(*constant);
    return s;
  }

  [[nodiscard]] plan_error wrong_type(const assay_value& v, const c10::Argument& wanted) const {
    return plan_error(where() + ": argument '" + wanted.name() + "' wants " +
                      type_in_words(wanted) + ", the plan gives " + kind_in_words(v));
  }

  [[nodiscard]] slot reference(const assay_value& v) const {
    slot s;
    s.position = static_cast<std::uint32_t>(v.integer);
    s.item = v.item;
    if (v.kind == ASSAY_VALUE_INPUT) {
      if (v.integer < 0 || v.integer >= static_cast<std::int64_t>(check_.input_count)) {
        throw plan_error(where() + ": there is no input " + std::to_string(v.integer) +
                         ", the check has " + std::to_string(check_.input_count));
      }
      s.kind = slot_kind::input;
      return s;
    }
    if (v.integer < 0 || v.integer >= static_cast<std::int64_t>(earlier_.size())) {
      throw plan_error(where() + ": it uses the result of call " + std::to_string(v.integer) +
                       ", which does not come before it");
    }
    const auto& source = earlier_[static_cast<std::size_t>(v.integer)];
    const auto& returns = source.op.schema().returns();
    s.kind = slot_kind::result;
    s.from_list = returns.size() == 1 && element_of_list(returns[0].type()) != nullptr;
    if (!s.from_list && v.item >= returns.size()) {
      throw plan_error(where() + ": there is no result " + std::to_string(v.item) + " of call " +
                       std::to_string(v.integer) + ", " + check_.calls[v.integer]->op +
                       " returns " + std::to_string(returns.size()));
    }
    return s;
  }

  const assay_check& check_;
  std::uint32_t position_;
  const plan_site& site_;
  const std::vector<bound_plan::bound_call>& earlier_;
  std::string op_;
};

bound_plan::bound_plan(const assay_check& check, const plan_site& site)
    : call_word_(site.call_word) {
  calls_.reserve(check.call_count);
  for (std::uint32_t i = 0; i < check.call_count; ++i) {
    calls_.push_back(call_binder(check, i, site, calls_).bind());
  }
  note_last_uses();
  note_written_inputs();
}

void bound_plan::note_written_inputs() {
  const auto note = [this](const slot& s, bool only_written) {
    if (s.kind == slot_kind::input && !writes_to(s.position)) {
      written_.push_back({s.position, only_written, {}});
    }
  };
  for (const bound_call& call : calls_) {
    const auto& wanted = call.op.schema().arguments();
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i].alias_info() == nullptr || !wanted[i].alias_info()->isWrite()) {
        continue;
      }
      // What comes behind the * of a schema is an out= argument.
      note(call.slots[i], wanted[i].kwarg_only());
      for (const slot& item : call.slots[i].items) {
        note(item, wanted[i].kwarg_only());
      }
    }
  }
}

bool bound_plan::writes_to(std::size_t input) const {
  return std::any_of(written_.begin(), written_.end(),
                     [input](const written_input& w) { return w.position == input; });
}

bool bound_plan::only_writes_to(std::size_t input) const {
  return std::any_of(written_.begin(), written_.end(), [input](const written_input& w) {
    return w.position == input && w.only_written;
  });
}

void bound_plan::restore_inputs() {
  for (const written_input& w : written_) {
    inputs_[w.position].toTensor().copy_(w.original);
  }
}

bool bound_plan::may_draw() const {
  return std::any_of(calls_.begin(), calls_.end(), [](const bound_call& call) {
    return call.op.hasTag(at::Tag::nondeterministic_seeded);
  });
}

void bound_plan::note_last_uses() {
  std::map<std::uint32_t, std::uint32_t> last_use;  // call -> the last call that uses its results
  for (std::uint32_t i = 0; i < calls_.size(); ++i) {
    for (const slot& s : calls_[i].slots) {
      if (s.kind == slot_kind::result) {
        last_use[s.position] = i;
      }
      for (const slot& item : s.items) {
        if (item.kind == slot_kind::result) {
          last_use[item.position] = i;
        }
      }
    }
  }
  for (const auto& [call, user] : last_use) {
    calls_[user].used_up.push_back(call);
  }
}

void bound_plan::set_inputs(std::vector<at::Tensor> inputs) {
  inputs_.assign(std::make_move_iterator(inputs.begin()), std::make_move_iterator(inputs.end()));
  for (written_input& w : written_) {
    w.original = inputs_[w.position].toTensor().clone();
  }
  for (bound_call& call : calls_) {
    for (slot& s : call.slots) {
      if (s.kind == slot_kind::input_list) {
        s.constant = list_of(s);
      }
    }
  }
}

c10::IValue bound_plan::list_of(const slot& s) const {
  const auto fill = [&](auto list) -> c10::IValue {
    list.reserve(s.items.size());
    for (const slot& item : s.items) {
      if (item.kind == slot_kind::constant) {  // None, of which an optional tensor is made
        list.push_back({});
        continue;
      }
      list.push_back(item.kind == slot_kind::input ? inputs_[item.position].toTensor()
                                                   : tensor_at(item).toTensor());
    }
    return list;
  };
  if (s.optional_items) {
    return fill(c10::List<std::optional<at::Tensor>>());
  }
  return fill(c10::List<at::Tensor>());
}

c10::IValue bound_plan::tensor_at(const slot& s) const {
  if (s.kind == slot_kind::list) {
    return list_of(s);
  }
  const torch::jit::Stack& results = calls_[s.position].results;
  if (!s.from_list) {
    return results[s.item];
  }
  const c10::IValue& value = results[0];
  if (value.isTensorList()) {
    const auto tensors = value.toTensorList();
    if (s.item < tensors.size()) {
      return tensors.get(s.item);
    }
  } else if (value.isList() && s.item < value.toListRef().size()) {
    return value.toListRef()[s.item];
  }
  throw plan_error("call " + std::to_string(s.position) + " returned a list that has no item " +
                   std::to_string(s.item));
}

void collect_tensors(const c10::IValue& value, std::vector<at::Tensor>& found) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) {
      found.push_back(value.toTensor());
    }
  } else if (value.isTensorList()) {
    for (const at::Tensor& t : value.toTensorVector()) {
      found.push_back(t);
    }
  } else if (value.isList()) {
    for (const c10::IValue& item : value.toListRef()) {
      collect_tensors(item, found);
    }
  } else if (value.isTuple()) {
    for (const c10::IValue& item : value.toTupleRef().elements()) {
      collect_tensors(item, found);
    }
  }
}

std::vector<at::Tensor> bound_plan::outputs() const {
  std::vector<at::Tensor> found;
  for (const c10::IValue& value : calls_.back().results) {
    collect_tensors(value, found);
  }
  return found;
}

std::string bound_plan::failed_call() const {
  if (running_ == nullptr || running_->written->source == nullptr) {
    return "";
  }
  return place_of_call(*running_->written, call_word_,
                       static_cast<std::size_t>(running_ - calls_.data())) +
         ": ";
}

void bound_plan::run_watched(const call_observer& seen) {
  for (bound_call& call : calls_) {
    running_ = &call;
    torch::jit::Stack arguments;
    for (const slot& s : call.slots) {
      push(arguments, s);
    }
    call.results = arguments;
    call.op.callBoxed(call.results);
    seen(call.op, arguments, call.results);
  }
  running_ = nullptr;
}

torch::jit::Stack bound_plan::run_up_to_last() {
  for (std::size_t i = 0; i + 1 < calls_.size(); ++i) {
    bound_call& call = calls_[i];
    call.results.clear();
    for (const slot& s : call.slots) {
      push(call.results, s);
    }
    call.op.callBoxed(call.results);
  }
  torch::jit::Stack arguments;
  for (const slot& s : calls_.back().slots) {
    push(arguments, s);
  }
  return arguments;
}

void bound_plan::release_results() {
  previous_.clear();
  for (bound_call& call : calls_) {
    call.results.clear();
  }
}

}  // namespace assay::engine
