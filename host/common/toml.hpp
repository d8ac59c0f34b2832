// SPDX-License-Identifier: Apache-2.0
//
// toml++, for files that come from anywhere. Some damaged files ("x = [}") break assertions of its
// parser (3.3; CMake says which is in use): a debug build then aborts, and a release build goes on
// with what must not be. Here a broken assertion is an exception in every build. Nothing else
// includes toml++, or the two would mix.
#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace assay::detail {

class toml_assertion : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] inline void toml_assertion_broken(const char* text) { throw toml_assertion(text); }

}  // namespace assay::detail

#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(expr) \
  ((expr) ? static_cast<void>(0) : ::assay::detail::toml_assertion_broken(#expr))
#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

namespace assay {

/// Why a text is no TOML, and where.
class toml_syntax_error : public std::runtime_error {
 public:
  toml_syntax_error(const std::string& what, std::size_t line, std::size_t column)
      : runtime_error(what), line_(line), column_(column) {}
  [[nodiscard]] std::size_t line() const { return line_; }
  [[nodiscard]] std::size_t column() const { return column_; }  // from 1; 0: not known

 private:
  std::size_t line_, column_;
};

/// ", in 'm == 128'": a line of the text, counted from 1; "" where it is not fit to be shown.
inline std::string line_shown(std::string_view text, std::size_t line) {
  constexpr std::size_t most = 80;
  for (; line > 1 && !text.empty(); --line) {
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  }
  text = text.substr(0, text.find_first_of("\r\n"));
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  const bool is_plain = std::all_of(text.begin(), text.end(),
                                    [](char c) { return (c >= ' ' && c <= '~') || c == '\t'; });
  return text.empty() || text.size() > most || !is_plain ? "" : ", in '" + std::string(text) + "'";
}

/// The text's root table. Throws toml_syntax_error.
inline toml::table parse_toml(std::string_view text) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& e) {
    const toml::source_position at = e.source().begin;
    throw toml_syntax_error(std::string(e.description()) + line_shown(text, at.line), at.line,
                            at.column);
  } catch (const detail::toml_assertion&) {
    // The parser does not say where it was: it is the first line with which it comes to this.
    std::size_t line = 1;
    for (auto end = text.find('\n'); end != std::string_view::npos;
         end = text.find('\n', end + 1), ++line) {
      try {
        static_cast<void>(toml::parse(text.substr(0, end + 1)));
      } catch (const toml::parse_error&) {
        continue;  // it ends in the middle of something
      } catch (const detail::toml_assertion&) {
        break;
      }
    }
    throw toml_syntax_error("this line is no TOML: a bracket, a brace or a key is out of place" +
                                line_shown(text, line),
                            line, 0);
  }
}

}  // namespace assay
