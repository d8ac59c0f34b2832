// SPDX-License-Identifier: Apache-2.0
#include "trace_checks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>

#include "check_store.hpp"
#include "host/common/dtype_names.hpp"
#include "trace_cost.hpp"
#include "trace_rules.hpp"

namespace assay::worker {

namespace {

using nlohmann::json;
using form = log_value::form;

/// This entry cannot be a check; what() says why.
class unusable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Overloads that logs name and LibTorch no longer has.
constexpr std::array renamed{std::pair<std::string_view, std::string_view>{
    "aten.sum.SymInt", "aten.sum.dim_IntList"}};  // gone since 1.14

constexpr std::array<std::pair<std::string_view, dtype>, 20> dtype_tokens{{
    {"f32", dtype::float32},
    {"f64", dtype::float64},
    {"f16", dtype::float16},
    {"bf16", dtype::bfloat16},
    {"i64", dtype::int64},
    {"i32", dtype::int32},
    {"i16", dtype::int16},
    {"i8", dtype::int8},
    {"u8", dtype::uint8},
    {"b8", dtype::boolean},
    {"torch.float", dtype::float32},
    {"torch.double", dtype::float64},
    {"torch.half", dtype::float16},
    {"torch.long", dtype::int64},
    {"torch.int", dtype::int32},
    {"torch.short", dtype::int16},
    {"torch.bool", dtype::boolean},
    {"torch.uint8", dtype::uint8},
    {"torch.int8", dtype::int8},
    {"torch.bfloat16", dtype::bfloat16},
}};

std::optional<dtype> dtype_of(const std::string& token) {
  for (const auto& [name, type] : dtype_tokens) {
    if (name == token) {
      return type;
    }
  }
  const std::int32_t code =
      token.starts_with("torch.") ? dtype_code(std::string_view(token).substr(6)) : 0;
  return code == 0 ? std::nullopt : std::optional(static_cast<dtype>(code));
}

bool is_complex(const std::string& token) {
  return token == "c32" || token == "c64" || token == "c128" ||
         token.starts_with("torch.complex") || token == "torch.cfloat" || token == "torch.cdouble";
}

dtype usable_dtype(const std::string& token) {
  if (is_complex(token)) {
    throw unusable("it has complex numbers (" + token + "), which assay does not make");
  }
  const auto type = dtype_of(token);
  if (!type) {
    throw unusable("assay does not make tensors of dtype " + token);
  }
  return *type;
}

bool is_floating(dtype type) {
  return type == dtype::float32 || type == dtype::float64 || type == dtype::float16 ||
         type == dtype::bfloat16;
}

// The first floating tensor's, else the first tensor's.
std::optional<dtype> dtype_of_call(const std::vector<log_value>& values, bool floating) {
  for (const log_value& v : values) {
    std::optional<dtype> found;
    if (v.is == form::tensor) {
      found = dtype_of(v.text);
      found = floating && found && !is_floating(*found) ? std::nullopt : found;
    } else if (v.is == form::list) {
      found = dtype_of_call(v.items, floating);
    }
    if (found) {
      return found;
    }
  }
  return std::nullopt;
}

std::string schema_name(const std::string& op) {
  const auto first = op.find('.');
  const auto second = op.find('.', first + 1);
  std::string name = op.substr(0, first) + "::" + op.substr(first + 1, second - first - 1);
  const std::string_view overload = overload_of(op);
  return overload == "default" ? name : name + "." + std::string(overload);
}

void append(const log_value& v, std::string& to) {
  switch (v.is) {
    case form::none:
      to += "None";
      break;
    case form::boolean:
    case form::integer:
      to += (v.is == form::boolean ? "b" : "") + std::to_string(v.integer);
      break;
    case form::real:
      to += json(v.real).dump() + (std::isfinite(v.real) ? "r" : v.real > 0 ? "inf" : "-inf");
      break;
    case form::list:
      to += '[';
      for (const log_value& item : v.items) {
        append(item, to);
        to += ',';
      }
      to += ']';
      break;
    case form::tensor:
      to += "T" + json(v.sizes).dump() + v.text + json(v.strides).dump();
      break;
    case form::text:
      to += json(v.text).dump(-1, ' ', false, json::error_handler_t::replace);
      break;
    default:
      to += v.text;
      break;
  }
}

// The same for entries that differ only in how they are written.
std::string key_of(const log_entry& entry) {
  std::string key = entry.op + " ";
  for (const log_value& v : entry.arguments) {
    append(v, key);
    key += ',';
  }
  for (const auto& [name, v] : entry.named) {
    key += name + "=";
    append(v, key);
    key += ',';
  }
  return key;
}

// A backend's own operators are of use on that backend alone.
std::string accelerator_of(std::string_view base) {
  const auto begins = [base](std::string_view name) {
    return base.starts_with(name) || (base.starts_with("_") && base.substr(1).starts_with(name));
  };
  return begins("cudnn_") || base == "_cudnn_rnn" ? "cuda"
         : begins("miopen_")                      ? "rocm"
         : begins("mkldnn_")                      ? "cpu"
                                                  : "";
}

/// Makes one check of one entry.
class check_maker {
 public:
  check_maker(const log_entry& entry, std::string source)
      : entry_(entry), source_(std::move(source)) {
    const auto floating = dtype_of_call(entry.arguments, true);
    own_ = floating ? floating : dtype_of_call(entry.arguments, false);
  }

  check make(const std::string& name, std::uint64_t weight) {
    if (const std::string why = unrepeatable(entry_); !why.empty()) {
      throw unusable(why);
    }
    operator_call call{schema_name(entry_.op), {}, source_};
    for (std::size_t i = 0; i < entry_.arguments.size(); ++i) {
      argument_ = i;
      call.arguments.push_back(make_value(entry_.arguments[i]));
    }
    for (const auto& [argument, v] : entry_.named) {
      if (argument == "pin_memory" || (argument == "layout" && is_plain_layout(v))) {
        continue;
      }
      argument_ = std::string::npos;  // rules go by places
      call.arguments.push_back(arg(argument, make_value(v)));
    }
    check made(name, std::move(inputs_), {std::move(call)});
    made.dtypes(dtypes()).weight(weight).source(source_).summary(entry_.op + " " + entry_.text);
    describe_work(entry_, made);
    if (const std::string only = accelerator_of(base_name(entry_.op)); !only.empty()) {
      requirements needs;
      needs.accelerator = only;
      made.needs(needs);
    }
    return made;
  }

  /// Inputs of whole numbers that no rule covers.
  [[nodiscard]] const std::vector<std::size_t>& guessed() const { return guessed_; }

 private:
  static bool is_plain_layout(const log_value& v) {
    return v.is == form::none || (v.is == form::name && v.text == "torch.strided");
  }

  [[nodiscard]] std::vector<dtype> dtypes() const {
    if (!own_ || !is_floating(*own_)) {
      return {own_.value_or(dtype::float32)};
    }
    std::vector<dtype> all{*own_};
    for (const dtype other : {dtype::float32, dtype::float16, dtype::bfloat16, dtype::float64}) {
      if (other != *own_) {
        all.push_back(other);
      }
    }
    return all;
  }

  value make_value(const log_value& v) {
    switch (v.is) {
      case form::none:
        return none;
      case form::boolean:
        return v.integer != 0;
      case form::integer:
        return v.integer;
      case form::real:
        return v.real;
      case form::complex:
        throw unusable("it has a complex number, which assay does not pass");
      case form::text:
        return v.text;
      case form::device:
        return device_under_test;
      case form::name:
        return make_name(v.text);
      case form::tensor:
        return make_tensor(v, 0);
      case form::sparse_tensor:
        throw unusable("it has a sparse tensor, which assay does not make");
      case form::list:
        return make_list(v);
      case form::dict:
        break;
    }
    throw unusable("it has a dictionary among its arguments");
  }

  value make_name(const std::string& name) const {
    constexpr std::array formats{"torch.strided", "torch.contiguous_format",
                                 "torch.preserve_format", "torch.channels_last",
                                 "torch.channels_last_3d"};
    if (std::find(formats.begin(), formats.end(), name) != formats.end()) {
      return name.substr(6);
    }
    if (name.starts_with("torch.sparse") || name == "torch._mkldnn") {
      throw unusable("it has layout " + name + ", of which assay makes no tensors");
    }
    const dtype type = usable_dtype(name);
    return type == own_ ? dtype::of_check : type;
  }

  value make_tensor(const log_value& v, std::size_t item) {
    constexpr double most_elements = 1e15;
    const dtype type = usable_dtype(v.text);
    double reach = 0.0;
    for (std::size_t i = 0; i < v.strides.size(); ++i) {
      reach += static_cast<double>(v.sizes[i]) * static_cast<double>(v.strides[i]);
    }
    if (elements_of(v.sizes) > most_elements || reach > most_elements) {
      throw unusable("it has a tensor that no memory holds");
    }
    if (!v.strides.empty() && shares_memory(v.sizes, v.strides)) {
      throw unusable("it has a tensor whose elements lie upon each other in memory");
    }
    const char kind = is_floating(type) ? 'f' : type == dtype::boolean ? 'b' : 'i';
    const tensor_fill fill = fill_of(entry_, argument_, item, kind);
    const auto position = static_cast<std::uint32_t>(inputs_.size());
    if (fill.guessed) {
      guessed_.push_back(position);
    }
    input made{v.sizes,  type == own_ ? dtype::of_check : type, fill.fill, fill.low, fill.high,
               v.strides};
    inputs_.push_back(std::move(made));
    return in(position);
  }

  value make_list(const log_value& v) {
    const auto all = [&v](auto... forms) {
      return std::all_of(v.items.begin(), v.items.end(),
                         [&](const log_value& item) { return ((item.is == forms) || ...); });
    };
    if (all(form::boolean) && !v.items.empty()) {
      std::vector<bool> flags;
      for (const log_value& item : v.items) {
        flags.push_back(item.integer != 0);
      }
      return bools(std::move(flags));
    }
    if (all(form::integer, form::boolean)) {
      ints numbers;
      for (const log_value& item : v.items) {
        numbers.push_back(item.integer);
      }
      return numbers;
    }
    if (all(form::integer, form::real)) {
      floats numbers;
      for (const log_value& item : v.items) {
        numbers.push_back(item.is == form::real ? item.real : static_cast<double>(item.integer));
      }
      return numbers;
    }
    if (!all(form::tensor, form::none, form::sparse_tensor)) {
      throw unusable("it has a list that is neither of numbers nor of tensors");
    }
    std::vector<value> tensors;
    for (std::size_t i = 0; i < v.items.size(); ++i) {
      tensors.push_back(v.items[i].is == form::tensor ? make_tensor(v.items[i], i)
                                                      : make_value(v.items[i]));
    }
    return list(std::move(tensors));
  }

  const log_entry& entry_;
  std::string source_;
  std::optional<dtype> own_;
  std::size_t argument_ = 0;  // the place of the argument that is being made
  std::vector<input> inputs_;
  std::vector<std::size_t> guessed_;
};

// "add_tensor" of aten.add.Tensor, "mm" of aten.mm.default, "torchvision_nms".
std::string stem_of(const std::string& op) {
  const std::string_view overload = overload_of(op);
  std::string text = op.substr(0, op.find('.', op.find('.') + 1));
  text = text.starts_with("aten.") ? text.substr(5) : text;
  if (overload != "default") {
    text += "_" + std::string(overload);
  }
  for (char& c : text) {
    const bool upper = c >= 'A' && c <= 'Z';
    c = upper ? static_cast<char>(c - 'A' + 'a') : c == '.' ? '_' : c;
  }
  return text;
}

}  // namespace

void trace_checks::take(log_entry entry) {
  ++lines_;
  for (const auto& [old_name, new_name] : renamed) {
    if (entry.op == old_name) {
      entry.op = new_name;
    }
  }
  const auto [place, is_new] = places_.try_emplace(key_of(entry), entries_.size());
  if (is_new) {
    const std::uint64_t count = entry.count;
    entries_.push_back({std::move(entry), count});
  } else {
    entries_[place->second].count += entry.count;
  }
}

void trace_checks::read(std::string_view text) {
  read_trace_log(text, [this](log_entry entry) { take(std::move(entry)); });
}

void trace_checks::fill(registry& into) {
  described_ = {
      {"entries", lines_}, {"calls", 0}, {"checks", json::array()}, {"skipped", json::array()}};
  auto& group = into.category("trace", "calls that a model made, replayed from a log");
  std::uint64_t calls = 0;
  for (const merged& m : entries_) {
    calls += m.count;
    const std::string source = name_ + ":" + std::to_string(m.entry.line);
    try {
      check_maker maker(m.entry, source);
      const std::string stem = stem_of(m.entry.op);
      std::size_t& number = numbers_[stem];
      const std::string name = stem + "_" + std::to_string(number + 1);
      group.add(maker.make(name, m.count));
      ++number;
      described_["checks"].push_back({{"check", "trace/" + name},
                                      {"op", schema_name(m.entry.op)},
                                      {"calls", m.count},
                                      {"guessed", maker.guessed()}});
    } catch (const unusable& e) {
      described_["skipped"].push_back({{"line", m.entry.line},
                                       {"op", schema_name(m.entry.op)},
                                       {"calls", m.count},
                                       {"reason", e.what()}});
    }
  }
  described_["calls"] = calls;
  if (described_["checks"].empty()) {
    throw registration_error(entries_.empty()
                                 ? "it has no entry: no line 'cnt: N, ((..), {..})'"
                                 : "none of its " + std::to_string(lines_) +
                                       " entries can be replayed; line " +
                                       described_["skipped"][0]["line"].dump() + ": " +
                                       described_["skipped"][0]["reason"].get<std::string>());
  }
}

}  // namespace assay::worker
