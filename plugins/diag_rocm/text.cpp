// SPDX-License-Identifier: Apache-2.0
#include "text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <system_error>

namespace diag_rocm {

namespace fs = std::filesystem;

file_text read_file(const fs::path& file) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (status.type() == fs::file_type::not_found) {
    return {reading::absent, {}};
  }
  std::ifstream in(file, std::ios::binary);
  if (!in || status.type() == fs::file_type::directory) {
    return {reading::refused, {}};
  }
  constexpr std::size_t most = std::size_t{1} << 20U;
  constexpr std::size_t step = 4096;  // of sysfs, a whole file
  std::string text;
  while (in && text.size() < most) {
    const std::size_t before = text.size();
    text.resize(before + step);
    in.read(text.data() + before, step);
    text.resize(before + static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad()) {
    return {reading::refused, {}};
  }
  return {reading::ok, std::move(text)};
}

std::string read_line(const fs::path& file) {
  const file_text read = read_file(file);
  const std::string_view text = read.text;
  return std::string(trimmed(text.substr(0, text.find('\n'))));
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    names.push_back(at->path().filename().string());
  }
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    const auto x = number(a);
    const auto y = number(b);
    return x && y ? *x < *y : a < b;
  });
  return names;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    parts.push_back(trimmed(text.substr(0, end)));
    if (end == std::string_view::npos) {
      break;
    }
    text.remove_prefix(end + 1);
    if (text.empty()) {
      parts.emplace_back();
    }
  }
  return parts;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  constexpr std::string_view blanks = " \t\r\n";
  for (std::size_t at = text.find_first_not_of(blanks); at != std::string_view::npos;) {
    const std::size_t end = text.find_first_of(blanks, at);
    words.push_back(text.substr(at, end == std::string_view::npos ? end : end - at));
    at = text.find_first_not_of(blanks, end);
  }
  return words;
}

std::string lower(std::string_view text) {
  std::string low(text);
  for (char& c : low) {
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return low;
}

bool contains_word(std::string_view text, std::string_view word) {
  const auto words = words_of(text);
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::optional<std::uint64_t> number(std::string_view text) {
  int base = 10;
  if (text.substr(0, 2) == "0x" || text.substr(0, 2) == "0X") {
    base = 16;
    text.remove_prefix(2);
  }
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base);
  if (text.empty() || error != std::errc{} || stop != end) {
    return std::nullopt;
  }
  return value;
}

std::string hex(std::uint64_t value, int digits) {
  std::array<char, 32> text{};
  const int length = std::snprintf(text.data(), text.size(), "%0*llx", digits,
                                   static_cast<unsigned long long>(value));
  return {text.data(), static_cast<std::size_t>(std::max(length, 0))};
}

std::string size_text(std::uint64_t bytes) {
  constexpr double mebibyte = 1048576.0;
  const double mebibytes = static_cast<double>(bytes) / mebibyte;
  const bool large = mebibytes >= 1024.0;
  std::array<char, 48> text{};
  const int length = std::snprintf(text.data(), text.size(), large ? "%.1f GiB" : "%.0f MiB",
                                   large ? mebibytes / 1024.0 : mebibytes);
  return {text.data(), static_cast<std::size_t>(std::max(length, 0))};
}

std::string counted(std::size_t count, std::string_view thing) {
  return std::to_string(count) + " " + std::string(thing) + (count == 1 ? "" : "s");
}

}  // namespace diag_rocm
