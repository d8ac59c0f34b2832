// SPDX-License-Identifier: Apache-2.0
#include "toml_pack_check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "host/common/dtype_names.hpp"
#include "host/common/nearest.hpp"
#include "toml_pack_call.hpp"

namespace assay::worker {

namespace {

constexpr const char* own_dtype = "dtype_under_test";

std::vector<std::string_view> dtype_words(bool with_own) {
  std::vector<std::string_view> words;
  for (const auto& [code, name] : dtype_names) {
    words.push_back(name);
  }
  if (with_own) {
    words.emplace_back(own_dtype);
  }
  return words;
}

bool is_size_name(std::string_view name) {
  return !name.empty() && name.front() >= 'a' && name.front() <= 'z' &&
         is_name(std::string(name), false);
}

/// One form of a check, small or large: its keys with one set of numbers.
class form_reader {
 public:
  form_reader(const toml_fields& table, named_sizes sizes, formula_reader& formulas)
      : table_(table), sizes_(std::move(sizes)), formulas_(formulas) {
    for (const auto& [name, size] : sizes_) {
      names_[name] = std::visit([](auto v) { return static_cast<double>(v); }, size);
    }
    formulas_.set_names(names_);
  }

  check read(const std::string& name) {
    std::vector<input> inputs = read_inputs();
    const auto count = static_cast<std::uint32_t>(inputs.size());
    std::vector<operator_call> plan = read_calls("calls", count);
    std::vector<operator_call> reference;
    if (table_.has("reference")) {
      reference = read_calls("reference", count);
    }
    check made(name, std::move(inputs), std::move(plan));
    made.source(table_.source().place(table_.node()));
    if (!reference.empty()) {
      made.reference(std::move(reference));
    }
    read_cost(made);
    read_accuracy(made, count);
    return made;
  }

 private:
  double number(const toml::node& node, const std::string& called) {
    double value = 0.0;
    if (const auto whole = node.value_exact<std::int64_t>()) {
      value = static_cast<double>(*whole);
    } else if (const auto real = node.value_exact<double>()) {
      value = *real;
    } else if (const auto formula = node.value_exact<std::string>()) {
      try {
        value = formulas_.value(*formula);
      } catch (const text_mistake& e) {
        throw toml_mistake(table_.source().place(node, *formula, e.offset()) + ": " +
                           table_.what() + ": " + called + ": " + e.what());
      }
    } else {
      table_.fail(node, called + " is a number, or a text with a formula");
    }
    if (!std::isfinite(value)) {
      table_.fail(node, called + " is a finite number");
    }
    return value;
  }

  double amount(const toml::node& node, const std::string& called) {
    const double value = number(node, called);
    if (value < 0.0) {
      table_.fail(node, called + " is not negative, this is " + shown(value));
    }
    return value;
  }

  std::int64_t whole(const toml::node& node, const std::string& called) {
    if (const auto exact = node.value_exact<std::int64_t>()) {
      return *exact;
    }
    const double value = number(node, called);
    if (value != std::floor(value) || std::fabs(value) > largest_whole) {
      table_.fail(node, called + " is a whole number, this is " + shown(value));
    }
    return static_cast<std::int64_t>(value);
  }

  static std::string shown(double value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%g", value);
    return text.data();
  }

  std::vector<std::int64_t> extents(const toml_fields& from, std::string_view key,
                                    const std::string& called) {
    std::vector<std::int64_t> all;
    const toml::array* array = from.need(key).as_array();
    if (array == nullptr) {
      table_.fail(from.need(key), called + ": '" + std::string(key) +
                                      "' is a list, one number a dimension; [] is a scalar");
    }
    const std::string each = called + ": each number of '" + std::string(key) + "'";
    for (const toml::node& one : *array) {
      all.push_back(whole(one, each));
      if (all.back() < 0) {
        table_.fail(one, each + " is 0 or more, this is " + std::to_string(all.back()));
      }
    }
    return all;
  }

  std::vector<input> read_inputs() {
    std::vector<input> inputs;
    const toml::node* node = table_.find("inputs");
    if (node == nullptr || (node->is_array() && node->as_array()->empty())) {
      return inputs;
    }
    for (const toml::node& one : *table_.list("inputs", "tables, { shape = [...] }")) {
      const std::string called = "in" + std::to_string(inputs.size());
      inputs.push_back(read_input(table_.item(one, called), called));
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      names_["in" + std::to_string(i)] = elements_of(inputs[i].sizes);
    }
    formulas_.set_names(names_);
    return inputs;
  }

  input read_input(const toml_fields& from, const std::string& called) {
    from.only({"shape", "strides", "dtype", "fill", "range", "share"});
    static const std::vector<std::string_view> fills{"normal", "uniform", "index", "mask",
                                                     "distinct"};
    input made;
    made.sizes = extents(from, "shape", called);
    const std::string fill = from.word_or("fill", fills, "normal");
    made.fill =
        static_cast<assay_fill>(std::find(fills.begin(), fills.end(), fill) - fills.begin());
    const std::string usual = fill == "index" || fill == "distinct" ? "int64"
                              : fill == "mask"                      ? "bool"
                                                                    : own_dtype;
    made.type = static_cast<dtype>(dtype_code(from.word_or("dtype", dtype_words(true), usual)));
    const bool ranged = fill != "normal" && fill != "mask";
    if (from.has("range") != ranged) {
      from.fail(ranged ? from.node() : from.need("range"),
                ranged ? "fill '" + fill + "' needs 'range', [low, high): low may come, high not"
                       : "'range' goes with fill 'uniform', 'index' or 'distinct'");
    }
    if (ranged) {
      const toml::array* range = from.list("range", "two numbers, [low, high]");
      if (range->size() != 2) {
        from.fail(*range, "'range' is a list of two numbers, [low, high]");
      }
      made.low = number(*range->get(0), called + ": the range's low end");
      made.high = number(*range->get(1), called + ": the range's high end");
      if (!(made.low < made.high)) {
        from.fail(*range,
                  "the range is empty: " + shown(made.low) + " is not below " + shown(made.high));
      }
    }
    if (from.has("share") && fill != "mask") {
      from.fail(from.need("share"), "'share' goes with fill 'mask'");
    }
    if (fill == "mask") {
      made.low = from.has("share") ? number(from.need("share"), called + ": 'share'") : 0.5;
      if (!(made.low > 0.0 && made.low < 1.0)) {
        from.fail(from.need("share"), "'share' lies between 0 and 1, this is " + shown(made.low));
      }
    }
    if (from.has("strides")) {
      made.strides = extents(from, "strides", called);
      if (made.strides.size() != made.sizes.size()) {
        from.fail(from.need("strides"), "'strides' has " + std::to_string(made.strides.size()) +
                                            " numbers, 'shape' has " +
                                            std::to_string(made.sizes.size()));
      }
    }
    return made;
  }

  std::vector<operator_call> read_calls(std::string_view key, std::uint32_t input_count) {
    std::vector<operator_call> calls;
    const toml::array* array = table_.list(key, "calls, 'aten::relu(in0)'");
    if (array == nullptr) {
      table_.source().fail(table_.node(), table_.what() + " needs '" + std::string(key) + "'");
    }
    for (const toml::node& one : *array) {
      const std::string called =
          (key == "calls" ? "call " : "reference call ") + std::to_string(calls.size());
      const std::string text = table_.text_of(one, called);
      const call_scope scope{sizes_, formulas_, input_count,
                             static_cast<std::uint32_t>(calls.size())};
      try {
        calls.push_back(parse_call(text, scope));
      } catch (const text_mistake& e) {
        throw toml_mistake(table_.source().place(one, text, e.offset()) + ": " + table_.what() +
                           ", " + called + ", character " + std::to_string(e.offset() + 1) + ": " +
                           e.what());
      }
      calls.back().source = table_.source().place(one);
    }
    return calls;
  }

  void read_cost(check& made) {
    const auto from = table_.table("cost");
    if (!from) {
      return;
    }
    from->only({"elements", "bytes", "flops", "matrix_flops"});
    const auto part = [&](const char* key) {
      return from->has(key) ? amount(from->need(key), "cost: '" + std::string(key) + "'") : 0.0;
    };
    made.moves(part("elements"), part("bytes"));
    if (from->has("matrix_flops")) {
      if (from->has("flops")) {
        from->fail(from->need("flops"),
                   "'flops' and 'matrix_flops' do not go together; matrix_flops is for what matrix "
                   "units can do");
      }
      made.matrix_flops(part("matrix_flops"));
    } else if (from->has("flops")) {
      made.flops(part("flops"));
    }
  }

  void read_accuracy(check& made, std::uint32_t input_count) {
    const auto from = table_.table("accuracy");
    if (!from) {
      return;
    }
    from->only({"exact", "contraction", "roundings", "terms", "picks_input", "picks_dimension",
                "incomparable"});
    const auto part = [&](const char* key, double fallback) {
      return from->has(key) ? amount(from->need(key), "accuracy: '" + std::string(key) + "'")
                            : fallback;
    };
    const double roundings = part("roundings", 16.0);
    const double terms = part("terms", 1.0);
    const bool exact = from->flag_or("exact", false);
    if (from->flag_or("contraction", false)) {
      if (exact) {
        from->fail(from->need("contraction"), "'exact' and 'contraction' do not go together");
      }
      made.contracts(roundings, terms);
    } else {
      made.rounds(roundings, terms);
    }
    if (exact) {
      made.exact();
    }
    if (from->flag_or("incomparable", false)) {
      if (exact) {
        from->fail(from->need("incomparable"), "'exact' and 'incomparable' do not go together");
      }
      made.incomparable();
    }
    if (from->has("picks_input") != from->has("picks_dimension")) {
      from->fail(from->node(), "'picks_input' and 'picks_dimension' go together");
    }
    if (from->has("picks_input")) {
      const auto position = whole(from->need("picks_input"), "accuracy: 'picks_input'");
      const auto dimension = whole(from->need("picks_dimension"), "accuracy: 'picks_dimension'");
      if (position < 0 || position >= static_cast<std::int64_t>(input_count)) {
        from->fail(from->need("picks_input"), "there is no input " + std::to_string(position) +
                                                  ", the check has " + std::to_string(input_count));
      }
      constexpr std::int64_t most_dimensions = 64;
      if (std::abs(dimension) > most_dimensions) {
        from->fail(from->need("picks_dimension"),
                   "a tensor has no dimension " + std::to_string(dimension));
      }
      made.picks(static_cast<std::int32_t>(position), static_cast<std::int32_t>(dimension));
    }
  }

  const toml_fields& table_;
  named_sizes sizes_;
  formula_reader& formulas_;
  std::map<std::string, double> names_;  // of formulas: the sizes, and inputs' element counts
};

void read_sizes(const toml_fields& from, const formula_reader& formulas, bool may_be_new,
                named_sizes& sizes) {
  std::vector<std::string> known;
  for (const auto& [name, size] : sizes) {
    known.push_back(name);
  }
  for (const auto& [key, node] : from.node()) {
    const std::string name(key.str());
    if (!may_be_new && !sizes.contains(name)) {
      from.fail(node, "'sizes' has no number '" + name + "'" + did_you_mean(name, known));
    }
    if (!is_size_name(name)) {
      from.fail(node, "'" + name + "' is no name: a name begins with a-z and takes a-z, 0-9 and _");
    }
    if (is_call_word(name) || formulas.is_taken(name)) {
      from.fail(node, "'" + name + "' means something else already; take another name");
    }
    if (const auto whole = node.value_exact<std::int64_t>()) {
      sizes[name] = *whole;
    } else if (const auto real = node.value_exact<double>(); real && std::isfinite(*real)) {
      sizes[name] = *real;
    } else {
      from.fail(node, "'" + name + "' is a number");
    }
  }
}

named_sizes sizes_of(const toml_fields& table, const formula_reader& formulas) {
  named_sizes sizes;
  if (const auto from = table.table("sizes")) {
    read_sizes(*from, formulas, true, sizes);
  }
  return sizes;
}

void read_paths(const toml_fields& table, check& made) {
  const toml::array* array =
      table.list("paths", "tables, { name = \"...\", grade = \"fast\", operator = \"aten::*\" }");
  if (array == nullptr) {
    return;
  }
  for (std::size_t i = 0; i < array->size(); ++i) {
    const toml_fields from = table.item(*array->get(i), "path " + std::to_string(i));
    from.only({"name", "grade", "operator", "kernel"});
    const std::string grade = from.word("grade", {"fast", "acceptable", "slow"});
    if (from.has("operator") == from.has("kernel")) {
      from.fail(from.node(), "one of 'operator' and 'kernel' is needed: the glob that tells it");
    }
    made.path(from.text("name"),
              grade == "fast"         ? fast
              : grade == "acceptable" ? acceptable
                                      : slow,
              from.has("operator") ? runs_operator(from.text("operator"))
                                   : runs_kernel(from.text("kernel")));
  }
}

}  // namespace

requirements read_needs(const toml_fields& table) {
  table.only({"accelerator", "architectures", "torch_at_least", "torch_below", "free_memory_bytes",
              "dtype_arithmetic"});
  requirements needs;
  needs.accelerator = table.text_or("accelerator", "");
  needs.architectures = table.text_or("architectures", "");
  needs.torch_at_least = table.text_or("torch_at_least", "");
  needs.torch_below = table.text_or("torch_below", "");
  needs.dtype_arithmetic = table.flag_or("dtype_arithmetic", false);
  if (const toml::node* node = table.find("free_memory_bytes")) {
    const auto bytes = node->value_exact<std::int64_t>();
    if (!bytes || *bytes < 0) {
      table.fail(*node, "'free_memory_bytes' is a whole number, 0 or more");
    }
    needs.free_memory_bytes = static_cast<std::uint64_t>(*bytes);
  }
  try {
    const assay_requirements c = needs.c_form();
    const owned_requirements examined(&c, table.what());
  } catch (const refused& e) {
    table.source().fail(table.node(), e.what());
  }
  return needs;
}

check read_check(const toml_fields& table, const std::string& name, formula_reader& formulas) {
  table.only({"name", "summary", "dtypes", "sizes", "large", "large_form", "inputs", "calls",
              "reference", "cost", "accuracy", "paths", "needs", "weight"});
  named_sizes sizes = sizes_of(table, formulas);
  check made = form_reader(table, sizes, formulas).read(name);
  if (table.has("summary")) {
    made.summary(table.text("summary"));
  }
  if (const toml::node* node = table.find("weight")) {
    const auto weight = node->value_exact<std::int64_t>();
    if (!weight || *weight < 0) {
      table.fail(*node, "'weight' is a whole number, 0 or more");
    }
    made.weight(static_cast<std::uint64_t>(*weight));
  }
  if (const toml::array* array = table.list("dtypes", "dtypes")) {
    std::vector<dtype> dtypes;
    const auto words = dtype_words(false);
    for (const toml::node& one : *array) {
      const std::string word = table.text_of(one, "each of 'dtypes'");
      const auto code = static_cast<dtype>(dtype_code(word));
      if (code == dtype::of_check) {
        table.fail(one, "'" + word + "' is no dtype; they are " + word_list(words) +
                            did_you_mean(dtype_meant(word), words));
      }
      if (std::find(dtypes.begin(), dtypes.end(), code) != dtypes.end()) {
        table.fail(one, "the dtype " + word + " is given twice");
      }
      dtypes.push_back(code);
    }
    made.dtypes(std::move(dtypes));
  }
  read_paths(table, made);
  if (const auto needs = table.table("needs")) {
    made.needs(read_needs(*needs));
  }
  if (table.has("large") && table.has("large_form")) {
    table.fail(table.need("large"), "'large' and 'large_form' do not go together");
  }
  if (const auto large = table.table("large")) {
    if (large->node().empty()) {
      large->fail(large->node(), "it names no number of 'sizes', so that nothing would be larger");
    }
    read_sizes(*large, formulas, false, sizes);
    made.large(form_reader(table, std::move(sizes), formulas).read(name));
  } else if (const auto form = table.table("large_form")) {
    form->only({"sizes", "inputs", "calls", "reference", "cost", "accuracy"});
    made.large(form_reader(*form, sizes_of(*form, formulas), formulas).read(name));
  }
  return made;
}

}  // namespace assay::worker
