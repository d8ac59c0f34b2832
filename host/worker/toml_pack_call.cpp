// SPDX-License-Identifier: Apache-2.0
#include "toml_pack_call.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "host/common/dtype_names.hpp"
#include "host/common/nearest.hpp"

namespace assay::worker {

namespace {

// Not <cctype>, whose answers depend on the locale.
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word_part(char c) { return is_word_start(c) || is_digit(c); }

/// "in12" with the prefix "in": 12.
std::optional<std::uint32_t> numbered(std::string_view word, std::string_view prefix) {
  if (!word.starts_with(prefix) || word.size() == prefix.size()) {
    return std::nullopt;
  }
  std::uint32_t number = 0;
  const char* end = word.data() + word.size();
  const auto [stop, fault] = std::from_chars(word.data() + prefix.size(), end, number);
  if (stop != end || !is_digit(word[prefix.size()])) {
    return std::nullopt;
  }
  return fault == std::errc() ? number : std::numeric_limits<std::uint32_t>::max();
}

const std::vector<std::string>& fixed_words() {
  static const std::vector<std::string> words = [] {
    std::vector<std::string> all{"None",  "True",
                                 "False", "inf",
                                 "nan",   "dtype_under_test",
                                 "float", "Tensor",
                                 "int",   "device_under_test"};
    for (const auto& [code, name] : dtype_names) {
      all.emplace_back(name);
    }
    return all;
  }();
  return words;
}

enum class item_kind { whole, real, boolean, tensor };

class call_parser {
 public:
  call_parser(std::string_view text, const call_scope& scope) : text_(text), scope_(scope) {}

  operator_call parse() {
    operator_call call;
    skip_blanks();
    const std::size_t begin = at_;
    std::string_view word = take_word();
    skip_blanks();
    if (!word.empty() && peek() == '=') {
      const std::string expected = "r" + std::to_string(scope_.position);
      if (word != expected) {
        throw text_mistake(
            "the result of this call is " + expected + ", not '" + std::string(word) + "'", begin);
      }
      ++at_;
      skip_blanks();
    } else {
      at_ = begin;
    }
    call.op = take_operator();
    skip_blanks();
    expect('(', "behind the operator's name");
    bool by_name = false;
    for (skip_blanks(); peek() != ')'; skip_blanks()) {
      const std::size_t start = at_;
      std::string name = take_argument_name();
      if (name.empty() && by_name) {
        throw text_mistake("what goes by position stands before what goes by name", start);
      }
      by_name = !name.empty();
      value given = take_value();
      call.arguments.push_back(name.empty() ? std::move(given)
                                            : arg(std::move(name), std::move(given)));
      skip_blanks();
      if (peek() != ')') {
        expect(',', "or ')' behind an argument");
      }
    }
    ++at_;
    skip_blanks();
    if (at_ != text_.size()) {
      throw text_mistake("the call ends before " + found(), at_);
    }
    return call;
  }

 private:
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) {
      ++at_;
    }
  }

  [[nodiscard]] std::string found() const {
    constexpr std::size_t most = 16;
    if (at_ >= text_.size()) {
      return "the end";
    }
    const std::string_view rest = text_.substr(at_);
    return "'" + std::string(rest.substr(0, most)) + (rest.size() > most ? "...'" : "'");
  }

  void expect(char c, const char* where) {
    if (peek() != c || at_ >= text_.size()) {
      throw text_mistake(std::string("'") + c + "' is needed " + where + ", here is " + found(),
                         at_);
    }
    ++at_;
  }

  std::string_view take_word() {
    const std::size_t begin = at_;
    if (is_word_start(peek())) {
      while (is_word_part(peek())) {
        ++at_;
      }
    }
    return text_.substr(begin, at_ - begin);
  }

  std::string take_operator() {
    const std::size_t begin = at_;
    const auto part = [&] {
      if (take_word().empty()) {
        throw text_mistake("an operator is needed, like aten::add.Tensor, here is " + found(),
                           begin);
      }
    };
    part();
    if (!text_.substr(at_).starts_with("::")) {
      throw text_mistake(
          "'::' is needed in the operator's name, like aten::add.Tensor, here is " + found(), at_);
    }
    at_ += 2;
    part();
    if (peek() == '.') {
      ++at_;
      part();
    }
    return std::string(text_.substr(begin, at_ - begin));
  }

  std::string take_argument_name() {
    const std::size_t begin = at_;
    std::string name(take_word());
    skip_blanks();
    if (!name.empty() && peek() == '=') {
      ++at_;
      skip_blanks();
      return name;
    }
    at_ = begin;
    return "";
  }

  value take_value() {
    const char c = peek();
    if (c == '"' || c == '\'') {
      return take_string(c);
    }
    if (c == '[') {
      return take_list();
    }
    if (c == '(') {
      return number(take_formula());
    }
    if (is_digit(c) || c == '.' || c == '-' || c == '+') {
      return number(take_number());
    }
    return take_word_value();
  }

  using real_or_whole = std::variant<std::int64_t, double>;

  static value number(const real_or_whole& n) {
    return std::visit([](auto v) { return value(v); }, n);
  }

  real_or_whole take_number() {
    const std::size_t begin = at_;
    const bool negative = peek() == '-';
    if (peek() == '-' || peek() == '+') {
      ++at_;
    }
    if (is_word_start(peek())) {
      const std::size_t word_begin = at_;
      const std::string_view word = take_word();
      if (word == "inf" || word == "nan") {
        const double v = word == "inf" ? std::numeric_limits<double>::infinity()
                                       : std::numeric_limits<double>::quiet_NaN();
        return negative ? -v : v;
      }
      at_ = word_begin;
      throw text_mistake("a number is needed behind a sign, here is " + found() +
                             "; a formula stands in parentheses: (-m)",
                         at_);
    }
    if (!is_digit(peek()) && peek() != '.') {
      throw text_mistake("a number is needed behind a sign, here is " + found(), at_);
    }
    const char* const start = text_.data() + (negative ? begin : at_);  // from_chars takes no '+'
    const char* const end = text_.data() + text_.size();
    double real = 0.0;
    std::int64_t whole = 0;
    const auto as_real = std::from_chars(start, end, real);
    const auto as_whole = std::from_chars(start, end, whole);
    if (as_real.ec == std::errc::invalid_argument) {
      throw text_mistake("a number is needed, here is " + found(), at_);
    }
    const bool is_whole = as_whole.ptr == as_real.ptr;
    if (is_whole ? as_whole.ec != std::errc() : as_real.ec != std::errc()) {
      throw text_mistake(is_whole ? "this number does not fit into 64 bits"
                                  : "this number is out of a float's range",
                         begin);
    }
    at_ = static_cast<std::size_t>(as_real.ptr - text_.data());
    if (is_word_part(peek()) || peek() == '.') {
      throw text_mistake("a number ends before " + found(), at_);
    }
    return is_whole ? real_or_whole(whole) : real_or_whole(real);
  }

  // What stands between "(" and its ")": an int where its value is whole.
  real_or_whole take_formula() {
    const std::size_t begin = at_ + 1;
    std::size_t depth = 0;
    do {
      if (at_ >= text_.size()) {
        throw text_mistake("this '(' has no ')'", begin - 1);
      }
      depth += peek() == '(' ? 1 : 0;
      depth -= peek() == ')' ? 1 : 0;
      ++at_;
    } while (depth > 0);
    try {
      const double v = scope_.formulas.value(std::string(text_.substr(begin, at_ - 1 - begin)));
      if (v == std::floor(v) && std::fabs(v) <= largest_whole) {
        return static_cast<std::int64_t>(v);
      }
      return v;
    } catch (const text_mistake& e) {
      throw text_mistake(e.what(), begin + e.offset());
    }
  }

  value take_string(char quote) {
    const std::size_t begin = at_++;
    std::string json_text = "\"";
    for (; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        // JSON has no \'.
        json_text += text_[at_ + 1] == '\'' ? "" : "\\";
        json_text += text_[++at_];
      } else {
        json_text += text_[at_] == '"' ? "\\\"" : std::string(1, text_[at_]);
      }
    }
    if (at_ >= text_.size()) {
      throw text_mistake("this string does not end", begin);
    }
    ++at_;
    const nlohmann::json read = nlohmann::json::parse(json_text + "\"", nullptr, false);
    if (!read.is_string() || read.get_ref<const std::string&>().find('\0') != std::string::npos) {
      throw text_mistake(
          "this string cannot be read; escapes are \\\\ \\\" \\' \\n \\t \\r \\b \\f \\uXXXX, "
          "without zero",
          begin);
    }
    return read.get<std::string>();
  }

  value take_list() {
    const std::size_t begin = at_++;
    ints whole;
    floats real;
    std::vector<bool> flags;
    std::vector<value> tensors;
    std::optional<item_kind> kind;
    for (skip_blanks(); peek() != ']'; skip_blanks()) {
      const std::size_t start = at_;
      item_kind one = take_item(whole, real, flags, tensors);
      const bool numbers = (one == item_kind::whole || one == item_kind::real) &&
                           (kind == item_kind::whole || kind == item_kind::real);
      if (kind && *kind != one && !numbers) {
        at_ = start;
        throw text_mistake(
            "a list holds numbers, or bools, or tensors and None; what does not go with what "
            "stands before it is " +
                found(),
            start);
      }
      if (one == item_kind::whole) {
        real.push_back(static_cast<double>(whole.back()));
      }
      kind = kind == item_kind::real ? item_kind::real : one;
      skip_blanks();
      if (at_ >= text_.size()) {
        throw text_mistake("this '[' has no ']'", begin);
      }
      if (peek() != ']') {
        expect(',', "or ']' in a list");
      }
    }
    ++at_;
    if (kind == item_kind::tensor) {
      return list(std::move(tensors));
    }
    if (kind == item_kind::boolean) {
      return bools(std::move(flags));
    }
    return kind == item_kind::real ? value(std::move(real)) : value(std::move(whole));
  }

  item_kind take_item(ints& whole, floats& real, std::vector<bool>& flags,
                      std::vector<value>& tensors) {
    const std::size_t begin = at_;
    const auto keep = [&](const real_or_whole& n) {
      if (const auto* v = std::get_if<std::int64_t>(&n)) {
        whole.push_back(*v);
        return item_kind::whole;
      }
      real.push_back(std::get<double>(n));
      return item_kind::real;
    };
    const char c = peek();
    if (c == '(') {
      return keep(take_formula());
    }
    if (is_digit(c) || c == '.' || c == '-' || c == '+') {
      return keep(take_number());
    }
    const std::string_view word = take_word();
    if (word == "True" || word == "False") {
      flags.push_back(word == "True");
      return item_kind::boolean;
    }
    if (const auto size = scope_.sizes.find(std::string(word)); size != scope_.sizes.end()) {
      return keep(size->second);
    }
    if (word == "inf" || word == "nan") {
      at_ = begin;
      return keep(take_signless_word(word));
    }
    at_ = begin;
    if (word != "None" && !numbered(word, "in") && !numbered(word, "r")) {
      if (!word.empty() && !is_call_word(word)) {
        throw unknown_word(word, begin);
      }
      throw text_mistake("a list holds numbers, bools, or tensors and None, here is " + found(),
                         begin);
    }
    tensors.push_back(take_word_value());
    return item_kind::tensor;
  }

  double take_signless_word(std::string_view word) {
    at_ += word.size();
    return word == "inf" ? std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }

  value take_word_value() {
    const std::size_t begin = at_;
    const std::string_view word = take_word();
    if (word.empty()) {
      throw text_mistake("a value is needed, here is " + found(), begin);
    }
    // An empty list has no items to tell its kind.
    if ((word == "float" || word == "bool" || word == "Tensor") &&
        text_.substr(at_).starts_with("[]")) {
      at_ += 2;
      return word == "float"  ? value(floats{})
             : word == "bool" ? value(bools(std::vector<bool>{}))
                              : list(std::vector<value>{});
    }
    if (const auto size = scope_.sizes.find(std::string(word)); size != scope_.sizes.end()) {
      return number(size->second);
    }
    if (word == "None") return none;
    if (word == "True" || word == "False") return word == "True";
    if (word == "inf" || word == "nan") {
      at_ = begin;
      return take_signless_word(word);
    }
    if (word == "dtype_under_test") return dtype::of_check;
    if (word == "device_under_test") return device_under_test;
    if (const std::int32_t code = dtype_code(word); code != ASSAY_DTYPE_OF_CHECK) {
      return static_cast<dtype>(code);
    }
    if (const auto position = numbered(word, "in")) {
      if (*position >= scope_.input_count) {
        throw text_mistake("there is no input " + std::string(word) + ", the check has " +
                               std::to_string(scope_.input_count) + ", counted from in0",
                           begin);
      }
      return in(*position);
    }
    if (const auto call = numbered(word, "r")) {
      if (*call >= scope_.position) {
        const std::string own = "r" + std::to_string(scope_.position);
        throw text_mistake(own == word ? own + " is what this call itself returns"
                                       : std::string(word) + " does not come before this call, " +
                                             "which is " + own,
                           begin);
      }
      return result(*call, take_item_number());
    }
    throw unknown_word(word, begin);
  }

  // "[1]" behind a result.
  std::uint32_t take_item_number() {
    if (peek() != '[') {
      return 0;
    }
    ++at_;
    const std::size_t begin = at_;
    std::uint32_t item = 0;
    const auto [stop, fault] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), item);
    if (fault != std::errc()) {
      throw text_mistake("the number of a result is needed, like r0[1], here is " + found(), begin);
    }
    at_ = static_cast<std::size_t>(stop - text_.data());
    expect(']', "behind the number of a result");
    return item;
  }

  [[nodiscard]] text_mistake unknown_word(std::string_view word, std::size_t begin) const {
    std::vector<std::string> known = fixed_words();
    for (const auto& [name, size] : scope_.sizes) {
      known.push_back(name);
    }
    for (std::uint32_t i = 0; i < std::min<std::uint32_t>(scope_.input_count, 8); ++i) {
      known.push_back("in" + std::to_string(i));
    }
    const std::string near = did_you_mean(dtype_meant(word), known);
    return {"'" + std::string(word) + "' is no value and no number of 'sizes'" +
                (near.empty() ? "; a text stands in quotes" : near),
            begin};
  }

  std::string_view text_;
  const call_scope& scope_;
  std::size_t at_ = 0;
};

}  // namespace

operator_call parse_call(std::string_view text, const call_scope& scope) {
  return call_parser(text, scope).parse();
}

bool is_call_word(std::string_view word) {
  return numbered(word, "in") || numbered(word, "r") ||
         std::find(fixed_words().begin(), fixed_words().end(), word) != fixed_words().end();
}

}  // namespace assay::worker
