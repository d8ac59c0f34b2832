// SPDX-License-Identifier: Apache-2.0
#include "trace_log.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>

namespace assay::worker {

namespace {

using form = log_value::form;

constexpr std::string_view header_begin = "Operator: ";
constexpr std::string_view entry_begin = "cnt: ";
constexpr int deepest = 64;  // brackets within brackets; more would be an attack on the stack

constexpr std::array<std::string_view, 13> short_dtypes{
    "bf16", "f64", "f32", "f16", "c32", "c64", "c128", "i8", "i16", "i32", "i64", "b8", "u8"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_blank(char c) { return c == ' ' || c == '\t'; }

/// One line, read from left to right.
class line_reader {
 public:
  line_reader(std::string_view line, std::size_t number) : line_(line), number_(number) {}

  [[nodiscard]] bool at_end() const { return at_ >= line_.size(); }
  [[nodiscard]] std::size_t position() const { return at_; }
  [[nodiscard]] std::string_view between(std::size_t begin, std::size_t end) const {
    return line_.substr(begin, end - begin);
  }

  [[noreturn]] void fail(std::size_t at, const std::string& found,
                         const std::string& expected) const {
    throw trace_error(std::to_string(number_) + ":" + std::to_string(at + 1) + ": found " + found +
                      ", expected " + expected);
  }
  [[noreturn]] void fail(const std::string& expected) const { fail(at_, found_here(), expected); }

  void skip_blanks() {
    while (!at_end() && is_blank(line_[at_])) {
      ++at_;
    }
  }

  /// The next character that is no blank; 0 at the end.
  char peek() {
    skip_blanks();
    return at_end() ? '\0' : line_[at_];
  }

  bool take(std::string_view word) {
    skip_blanks();
    if (!line_.substr(at_).starts_with(word)) {
      return false;
    }
    at_ += word.size();
    return true;
  }

  void expect(std::string_view word, const std::string& expected) {
    if (!take(word)) {
      fail(expected);
    }
  }

  /// Letters, digits, _ and dots: "True", "torch.strided". "" where there are none.
  std::string_view word() {
    skip_blanks();
    const std::size_t begin = at_;
    if (!at_end() && is_letter(line_[at_])) {
      while (!at_end() && (is_letter(line_[at_]) || is_digit(line_[at_]) || line_[at_] == '.')) {
        ++at_;
      }
    }
    return between(begin, at_);
  }

  log_value number();
  std::string quoted();

 private:
  [[nodiscard]] std::string found_here() const {
    constexpr std::size_t most = 24;
    if (at_end()) {
      return "the end of the line";
    }
    const auto first = static_cast<unsigned char>(line_[at_]);
    if (first < 0x20 || first >= 0x7F) {
      constexpr const char* digits = "0123456789abcdef";
      return std::string("byte 0x") + digits[first >> 4U] + digits[first & 15U];
    }
    std::size_t end = at_ + 1;
    if (is_letter(line_[at_]) || is_digit(line_[at_])) {
      while (end < line_.size() && end - at_ < most &&
             (is_letter(line_[end]) || is_digit(line_[end]) || line_[end] == '.')) {
        ++end;
      }
    }
    return "'" + std::string(between(at_, end)) + "'";
  }

  // "+2.5e3j" or "j": no check can pass it, so that its value is not kept.
  void skip_imaginary() {
    constexpr std::string_view of_numbers = "0123456789.eE+-infa";
    while (!at_end() && of_numbers.find(line_[at_]) != std::string_view::npos) {
      ++at_;
    }
    if (at_end() || line_[at_] != 'j') {
      fail("the j of a complex number");
    }
    ++at_;
  }

  std::size_t digits() {
    const std::size_t begin = at_;
    while (!at_end() && is_digit(line_[at_])) {
      ++at_;
    }
    return at_ - begin;
  }

  std::string_view line_;
  std::size_t number_;
  std::size_t at_ = 0;
};

// Python's: 12, -1, 1e-05, 2., .5, inf, -inf, 1j, 1+2j.
log_value line_reader::number() {
  skip_blanks();
  const std::size_t begin = at_;
  const bool negative = !at_end() && line_[at_] == '-';
  at_ += negative ? 1 : 0;
  log_value v;
  v.is = form::integer;
  const auto rest = line_.substr(at_);
  if (rest.starts_with("inf") || rest.starts_with("nan")) {
    at_ += 3;
    v.is = form::real;
    v.real = rest.front() == 'n' ? std::numeric_limits<double>::quiet_NaN()
                                 : std::numeric_limits<double>::infinity();
    v.real = negative ? -v.real : v.real;
    return v;
  }
  std::size_t significant = digits();
  if (!at_end() && line_[at_] == '.') {
    ++at_;
    significant += digits();
    v.is = form::real;
  }
  if (significant == 0) {
    at_ = begin;
    fail("a number");
  }
  if (!at_end() && (line_[at_] == 'e' || line_[at_] == 'E')) {
    ++at_;
    at_ += !at_end() && (line_[at_] == '-' || line_[at_] == '+') ? 1 : 0;
    if (digits() == 0) {
      fail("the digits of an exponent");
    }
    v.is = form::real;
  }
  const std::string_view whole = between(begin, at_);
  const auto read = [&whole](auto& into) {
    return std::from_chars(whole.data(), whole.data() + whole.size(), into).ec == std::errc();
  };
  if (!at_end() && (line_[at_] == 'j' || line_[at_] == '+' || line_[at_] == '-')) {
    skip_imaginary();
    v = {};
    v.is = form::complex;
    return v;
  }
  if (!(v.is == form::integer ? read(v.integer) : read(v.real))) {
    at_ = begin;
    fail(v.is == form::integer ? "a whole number of at most 64 bits"
                               : "a number that a double can hold");
  }
  return v;
}

std::string line_reader::quoted() {
  skip_blanks();
  const std::size_t begin = at_;
  const char quote = line_[at_++];
  std::string text;
  while (!at_end() && line_[at_] != quote) {
    char c = line_[at_++];
    if (c == '\\') {
      constexpr std::string_view codes = "\\'\"ntr";
      constexpr std::string_view meant = "\\'\"\n\t\r";
      const auto which = at_end() ? std::string_view::npos : codes.find(line_[at_]);
      if (which == std::string_view::npos) {
        fail(R"(one of \ ' " n t r after a backslash)");
      }
      c = meant[which];
      ++at_;
    }
    text += c;
  }
  if (at_end()) {
    fail(begin, "a text without its end", std::string("a closing ") + quote);
  }
  ++at_;
  return text;
}

/// The values of one line.
class value_reader {
 public:
  explicit value_reader(line_reader& line) : line_(line) {}

  log_value value() {
    if (++depth_ > deepest) {
      line_.fail("brackets at most " + std::to_string(deepest) + " deep");
    }
    log_value v = any();
    --depth_;
    return v;
  }

  /// "(a, b)" or "[a, b]", with or without a last comma.
  std::vector<log_value> items(char open, char close) {
    line_.expect(std::string_view(&open, 1), std::string("'") + open + "'");
    std::vector<log_value> found;
    for (;;) {
      if (line_.take(std::string_view(&close, 1))) {
        return found;
      }
      found.push_back(value());
      if (!line_.take(",") && line_.peek() != close) {
        line_.fail(std::string("',' or '") + close + "'");
      }
    }
  }

  std::vector<std::pair<std::string, log_value>> named() {
    line_.expect("{", "'{' and the named arguments");
    std::vector<std::pair<std::string, log_value>> found;
    while (!line_.take("}")) {
      if (line_.peek() != '\'' && line_.peek() != '"') {
        line_.fail("an argument's name in quotes, or '}'");
      }
      const std::size_t begin = line_.position();
      std::string name = line_.quoted();
      if (std::any_of(found.begin(), found.end(),
                      [&](const auto& known) { return known.first == name; })) {
        line_.fail(begin, "'" + name + "' a second time", "each name once");
      }
      line_.expect(":", "':' after an argument's name");
      found.emplace_back(std::move(name), value());
      if (!line_.take(",") && line_.peek() != '}') {
        line_.fail("',' or '}'");
      }
    }
    return found;
  }

 private:
  log_value any() {
    const char next = line_.peek();
    log_value v;
    if (next == '(' || next == '[') {
      v.is = form::list;
      v.items = items(next, next == '(' ? ')' : ']');
    } else if (next == '{') {
      v.is = form::dict;
      static_cast<void>(named());
    } else if (next == '\'' || next == '"') {
      v = text_or_device(line_.quoted());
    } else if (next == '-' || next == '.' || is_digit(next)) {
      v = line_.number();
    } else if (is_letter(next)) {
      v = named_value();
    } else {
      line_.fail("a value: a tensor T(..), a list, a number, a text, True, False, None or a dtype");
    }
    return v;
  }

  log_value named_value() {
    const std::size_t begin = line_.position();
    const std::string word(line_.word());
    log_value v;
    if (word == "T" || word == "ST") {
      return tensor(word == "ST");
    }
    if (word == "True" || word == "False") {
      v.is = form::boolean;
      v.integer = word == "True" ? 1 : 0;
    } else if (word == "inf" || word == "nan") {
      v.is = form::real;
      v.real = word == "inf" ? std::numeric_limits<double>::infinity()
                             : std::numeric_limits<double>::quiet_NaN();
    } else if (word == "device" || word == "torch.device") {
      v.is = form::device;
      v.text = device_in_brackets();
    } else if (word != "None") {
      v.is = form::name;
      v.text = word;
      must_be_known(begin, word);
    }
    return v;
  }

  void must_be_known(std::size_t begin, const std::string& word) const {
    const bool dotted = word.starts_with("torch.") && word.size() > 6 && word.back() != '.';
    if (!dotted && !is_short_dtype(word)) {
      line_.fail(begin, "'" + word + "'",
                 "T(..), True, False, None, inf, a dtype (f32, i64, b8, ..) or torch.NAME");
    }
  }

  static bool is_short_dtype(const std::string& word) {
    return std::find(short_dtypes.begin(), short_dtypes.end(), word) != short_dtypes.end();
  }

  // torch.device('cuda', 0), device(type='cuda', index=0)
  std::string device_in_brackets() {
    line_.expect("(", "'(' and a device");
    line_.take("type=");
    if (line_.peek() != '\'' && line_.peek() != '"') {
      line_.fail("a device in quotes");
    }
    std::string device = line_.quoted();
    if (line_.take(",")) {
      line_.take("index=");
      device += ":" + std::to_string(line_.number().integer);
    }
    line_.expect(")", "')' after a device");
    return device;
  }

  log_value text_or_device(std::string text) {
    log_value v;
    v.is = form::text;
    const auto is_device = [](std::string_view name) {
      const std::string_view type = name.substr(0, name.find(':'));
      return type == "cpu" || type == "cuda" || type == "hip" || type == "xpu" || type == "mps" ||
             type == "meta";
    };
    if (is_device(text)) {
      v.is = form::device;
    } else if (text.starts_with("torch.device(") || text.starts_with("device(")) {
      line_reader inside(text, 0);
      try {
        inside.take("torch.");
        inside.take("device");
        text = value_reader(inside).device_in_brackets();
        v.is = form::device;
      } catch (const trace_error&) {
        v.is = form::text;  // a text that happens to begin so
      }
    }
    v.text = std::move(text);
    return v;
  }

  std::vector<std::int64_t> whole_numbers(const char* what) {
    const char open = line_.peek();
    if (open != '[' && open != '(') {
      line_.fail(std::string(what) + " in brackets");
    }
    line_.take(std::string_view(&open, 1));
    const std::string close(1, open == '[' ? ']' : ')');
    std::vector<std::int64_t> found;
    while (!line_.take(close)) {
      line_.skip_blanks();
      const std::size_t begin = line_.position();
      const log_value number = line_.number();
      if (number.is != form::integer || number.integer < 0) {
        line_.fail(begin, "'" + std::string(line_.between(begin, line_.position())) + "'",
                   std::string(what) + ": whole numbers from 0 on");
      }
      found.push_back(number.integer);
      if (!line_.take(",") && line_.peek() != close.front()) {
        line_.fail("',' or '" + close + "'");
      }
    }
    return found;
  }

  log_value tensor(bool sparse) {
    log_value v;
    v.is = sparse ? form::sparse_tensor : form::tensor;
    line_.expect("(", "'(' and a tensor's sizes");
    v.sizes = whole_numbers("a tensor's sizes");
    line_.expect(",", "',' and a tensor's dtype");
    line_.skip_blanks();
    const std::size_t begin = line_.position();
    v.text = line_.word();
    if (v.text.empty() || (!is_short_dtype(v.text) && !v.text.starts_with("torch."))) {
      line_.fail(begin, v.text.empty() ? "no name" : "'" + v.text + "'",
                 "a dtype: f32, f16, bf16, f64, i64, i32, i16, i8, u8, b8, c64 or torch.NAME");
    }
    if (sparse) {
      rest_of_sparse();
    } else if (line_.take(",") && line_.peek() != ')') {
      line_.skip_blanks();
      const std::size_t at = line_.position();
      line_.take("stride=");
      v.strides = whole_numbers("a tensor's strides");
      if (v.strides.size() != v.sizes.size()) {
        line_.fail(
            at, std::to_string(v.strides.size()) + (v.strides.size() == 1 ? " stride" : " strides"),
            std::to_string(v.sizes.size()) + ", one for each size");
      }
    }
    line_.expect(")", "')' after a tensor");
    return v;
  }

  // layout, coalesced, nnz
  void rest_of_sparse() {
    for (const char* what : {"a layout", "True or False", "a number of values"}) {
      line_.expect(",", std::string("',' and ") + what);
      static_cast<void>(value());
    }
    line_.take(",");
  }

  line_reader& line_;
  int depth_ = 0;
};

std::string read_header(line_reader& line) {
  const std::string name(line.word());
  const auto dots = std::count(name.begin(), name.end(), '.');
  if (dots < 1 || dots > 2 || name.back() == '.' || name.find("..") != std::string::npos) {
    line.fail(header_begin.size(), name.empty() ? "no name" : "'" + name + "'",
              "an operator's name with dots, such as aten.add.Tensor");
  }
  if (line.peek() != '\0' || !line.at_end()) {
    line.fail("the end of the line after the operator's name");
  }
  return name;
}

void read_entry(line_reader& line, log_entry& entry) {
  line.skip_blanks();
  const std::size_t begin = line.position();
  const log_value count = line.number();
  if (count.is != form::integer || count.integer < 0) {
    line.fail(begin, "'" + std::string(line.between(begin, line.position())) + "'",
              "a count: a whole number from 0 on");
  }
  entry.count = static_cast<std::uint64_t>(count.integer);
  line.expect(",", "',' after the count");
  line.skip_blanks();
  const std::size_t arguments = line.position();
  line.expect("(", "'(' and the arguments");
  value_reader values(line);
  entry.arguments = values.items('(', ')');
  line.expect(",", "',' and the named arguments");
  entry.named = values.named();
  line.take(",");
  line.expect(")", "')' that ends the entry");
  entry.text = line.between(arguments, line.position());
  if (line.peek() != '\0' || !line.at_end()) {
    line.fail("the end of the line");
  }
}

bool is_utf8(std::string_view line) {
  const auto beyond_ascii = [](char c) { return static_cast<unsigned char>(c) > 0x7F; };
  if (std::none_of(line.begin(), line.end(), beyond_ascii)) {
    return true;
  }
  try {
    static_cast<void>(nlohmann::json(line).dump());
    return true;
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
}

}  // namespace

void read_trace_log(std::string_view text, const std::function<void(log_entry)>& take) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark)) {
    text.remove_prefix(byte_order_mark.size());
  }
  std::string op;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view content = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (content.ends_with('\r')) {
      content.remove_suffix(1);
    }
    line_reader line(content, number);
    if (!is_utf8(content)) {
      line.fail(0, "bytes that are no UTF-8", "a log in UTF-8");
    }
    line.skip_blanks();
    if (line.at_end()) {
      continue;
    }
    if (line.take(header_begin)) {
      op = read_header(line);
    } else if (line.take(entry_begin)) {
      if (op.empty()) {
        line.fail(0, "an entry", "a line 'Operator: NAME' before it");
      }
      log_entry entry;
      entry.op = op;
      entry.line = number;
      read_entry(line, entry);
      take(std::move(entry));
    } else {
      line.fail("'Operator: NAME' or 'cnt: N, ((..), {..})'");
    }
  }
}

}  // namespace assay::worker
