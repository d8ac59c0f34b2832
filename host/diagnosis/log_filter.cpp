// SPDX-License-Identifier: Apache-2.0
#include "log_filter.hpp"

namespace assay {

namespace {

constexpr char escape_character = '\x1b';
constexpr char bell = '\x07';

constexpr std::size_t enough_to_tell = 64;  // bytes

/// UTF-16 without a mark: nearly every other byte of English text is 0.
bool has_zeros_at(std::string_view bytes, std::size_t parity) {
  std::size_t here = 0;
  std::size_t there = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] == '\0') {
      ++(i % 2 == parity ? here : there);
    }
  }
  return bytes.size() >= 4 && there == 0 && here * 4 >= bytes.size() / 2 * 3;
}

bool is_letter(unsigned char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

}  // namespace

std::string_view log_filter::clean(std::string_view bytes) {
  clean_.clear();
  if (encoding_ != encoding::unknown) {
    decode(bytes);
    return clean_;
  }
  start_ += bytes;
  if (start_.size() >= enough_to_tell) {
    tell_encoding();
  }
  return clean_;
}

std::string_view log_filter::end() {
  clean_.clear();
  if (encoding_ == encoding::unknown) {
    tell_encoding();
  }
  return clean_;
}

void log_filter::tell_encoding() {
  const std::string_view all = start_;
  const std::string_view mark = all.substr(0, 2);
  const std::string_view first = all.substr(0, enough_to_tell);
  const bool marked = mark == "\xFF\xFE" || mark == "\xFE\xFF";
  encoding_ = mark == "\xFF\xFE" || has_zeros_at(first, 1)   ? encoding::utf16_little
              : mark == "\xFE\xFF" || has_zeros_at(first, 0) ? encoding::utf16_big
                                                             : encoding::bytes;
  decode(all.substr(marked ? 2 : 0));
  start_.clear();
}

void log_filter::decode(std::string_view bytes) {
  for (const char c : bytes) {
    if (encoding_ == encoding::bytes) {
      take(c);
      continue;
    }
    if (half_ < 0) {
      half_ = static_cast<unsigned char>(c);
      continue;
    }
    const int other = static_cast<unsigned char>(c);
    const int unit =
        encoding_ == encoding::utf16_little ? other * 256 + half_ : half_ * 256 + other;
    half_ = -1;
    take(unit < 0x80 ? static_cast<char>(unit) : '?');
  }
}

void log_filter::take(char c) {
  if (c == '\n') {  // ends a code that was cut off, too: no line is lost
    escape_ = escape::none;
  }
  switch (escape_) {
    case escape::began:
      escape_ = c == '[' ? escape::sequence : c == ']' ? escape::title : escape::none;
      return;
    case escape::sequence:
      escape_ = c >= '@' && c <= '~' ? escape::none : escape::sequence;
      return;
    case escape::title:  // or a link: ends in a bell, or in ESC and a backslash
      escape_ = c == bell               ? escape::none
                : c == escape_character ? escape::title_may_end
                                        : escape::title;
      return;
    case escape::title_may_end:
      escape_ = c == '\\' ? escape::none : escape::title;
      return;
    case escape::none:
      break;
  }
  if (c == escape_character) {
    escape_ = escape::began;
    return;
  }
  if (carriage_return_ && c != '\n') {
    clean_ += '\n';
  }
  carriage_return_ = c == '\r';
  if (carriage_return_) {
    return;
  }
  clean_ += c;
  last_bytes_ = (last_bytes_ << 8U) | static_cast<unsigned char>(c);
  const auto byte = [&](unsigned back) { return (last_bytes_ >> (8U * back)) & 0xFFU; };
  // "C:\", ".dll"; "/usr", "/opt", "/hom", "/dev"; ".so."; "WSL".
  if (byte(0) == '\\' && byte(1) == ':' && is_letter(static_cast<unsigned char>(byte(2)))) {
    ++windows_paths_;
  }
  switch (last_bytes_) {
    case 0x2E646C6C:  // .dll
      ++windows_paths_;
      break;
    case 0x2F757372:  // /usr
    case 0x2F6F7074:  // /opt
    case 0x2F686F6D:  // /hom
    case 0x2F646576:  // /dev
    case 0x2E736F2E:  // .so.
      ++unix_paths_;
      break;
    default:
      wsl_words_ += (last_bytes_ & 0xFFFFFFU) == 0x57534C ? 1 : 0;  // WSL
  }
}

std::string log_filter::platform() const {
  if (wsl_words_ > 0 && windows_paths_ <= unix_paths_) {
    return "wsl";
  }
  if (windows_paths_ == unix_paths_) {
    return "";
  }
  return windows_paths_ > unix_paths_ ? "windows" : "linux";
}

}  // namespace assay
