// SPDX-License-Identifier: Apache-2.0
#include "serial_numbers.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace assay {

namespace {

constexpr std::string_view mark = "<serial>";

bool is_hex(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }

bool in_a_serial(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
}

/// How long the groups of hexadecimal digits are that the text begins with, as a whole; 0: none.
template <std::size_t N>
std::size_t groups_at(std::string_view text, const std::array<std::size_t, N>& sizes,
                      char separator) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < N; ++i) {
    if (i > 0 && (at >= text.size() || text[at++] != separator)) {
      return 0;
    }
    for (std::size_t digit = 0; digit < sizes[i]; ++digit, ++at) {
      if (at >= text.size() || !is_hex(text[at])) {
        return 0;
      }
    }
  }
  const bool goes_on = at < text.size() && (in_a_serial(text[at]) || text[at] == separator);
  return goes_on ? 0 : at;
}

std::size_t network_address(std::string_view text) {
  return groups_at(text, std::array<std::size_t, 6>{2, 2, 2, 2, 2, 2}, ':');
}

std::size_t uuid(std::string_view text) {
  return groups_at(text, std::array<std::size_t, 5>{8, 4, 4, 4, 12}, '-');
}

/// "GPU-" and eight hexadecimal digits or more, with dashes between: what is behind the prefix.
std::size_t id_of_gpu(std::string_view text) {
  constexpr std::size_t prefix = 4;
  constexpr std::size_t fewest = 8;
  if (!text.starts_with("GPU-") && !text.starts_with("MIG-")) {
    return 0;
  }
  std::size_t end = prefix;
  while (end < text.size() && (is_hex(text[end]) || text[end] == '-')) {
    ++end;
  }
  const bool goes_on = end < text.size() && in_a_serial(text[end]);
  return goes_on || end - prefix < fewest ? 0 : end;
}

bool begins_with_word(std::string_view text, std::string_view word) {
  return text.size() >= word.size() &&
         std::equal(word.begin(), word.end(), text.begin(), [](char a, char b) {
           return a == std::tolower(static_cast<unsigned char>(b));
         });
}

struct found_serial {
  std::size_t begin = 0, end = 0;  // of the number alone; end 0: none
};

/// "Serial Number: 1650522003820", "serial=ABC-123", "SERIAL_NO='X99812'".
found_serial named_serial(std::string_view text) {
  constexpr std::size_t shortest = 5;
  if (!begins_with_word(text, "serial")) {
    return {};
  }
  std::size_t at = std::string_view("serial").size();
  const auto skip = [&](std::string_view any_of) {
    const std::size_t from = at;
    while (at < text.size() && any_of.find(text[at]) != std::string_view::npos) {
      ++at;
    }
    return at > from;
  };
  bool separated = skip(" \t_#:='\"");
  for (const std::string_view word : {"number", "num", "no"}) {
    if (separated && begins_with_word(text.substr(at), word)) {
      at += word.size();
      separated = skip(" \t_#:='\".");
      break;
    }
  }
  std::size_t end = at;
  bool has_digit = false;
  while (end < text.size() && in_a_serial(text[end])) {
    has_digit = has_digit || std::isdigit(static_cast<unsigned char>(text[end])) != 0;
    ++end;
  }
  return separated && has_digit && end - at >= shortest ? found_serial{at, end} : found_serial{};
}

}  // namespace

std::string without_serials(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    const char c = rest.front();
    const bool begins = i == 0 || !in_a_serial(text[i - 1]);
    if (const found_serial serial = c == 's' || c == 'S' ? named_serial(rest) : found_serial{};
        serial.end > 0) {
      out += rest.substr(0, serial.begin);
      out += mark;
      i += serial.end;
      continue;
    }
    if (const std::size_t size = begins ? id_of_gpu(rest) : 0; size > 0) {
      out += rest.substr(0, 4);
      out += mark;
      i += size;
      continue;
    }
    std::size_t size = begins && is_hex(c) ? uuid(rest) : 0;
    if (size == 0 && begins && is_hex(c) && (i == 0 || text[i - 1] != ':')) {
      size = network_address(rest);
    }
    if (size > 0) {
      out += mark;
      i += size;
    } else {
      out += c;
      ++i;
    }
  }
  return out;
}

}  // namespace assay
