// SPDX-License-Identifier: Apache-2.0
#include "host/diagnosis/log_filter.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace {

using assay::log_filter;

std::string cleaned(std::string_view bytes, std::size_t piece) {
  log_filter filter;
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    text += filter.clean(bytes.substr(at, piece));
  }
  return text + std::string(filter.end());
}

/// The same however the bytes arrive.
std::string cleaned(std::string_view bytes) {
  const std::string whole = cleaned(bytes, bytes.size() + 1);
  for (const std::size_t piece : {1U, 2U, 3U, 7U}) {
    EXPECT_EQ(cleaned(bytes, piece), whole) << "in pieces of " << piece;
  }
  return whole;
}

std::string platform_of(std::string_view text) {
  log_filter filter;
  filter.clean(text);
  filter.end();
  return filter.platform();
}

std::string utf16(std::u16string_view text, bool little) {
  std::string bytes;
  for (const char16_t unit : std::u16string(u"\uFEFF") + std::u16string(text)) {
    const char low = static_cast<char>(unit & 0xFF);
    const char high = static_cast<char>(unit >> 8);
    bytes += little ? low : high;
    bytes += little ? high : low;
  }
  return bytes;
}

TEST(log_filter, plain_text_stays) {
  EXPECT_EQ(cleaned("one\ntwo\n\nthree"), "one\ntwo\n\nthree");
  EXPECT_EQ(cleaned(""), "");
  EXPECT_EQ(cleaned("x"), "x");
  EXPECT_EQ(cleaned("gr\xC3\xBC\xC3\x9F"), "gr\xC3\xBC\xC3\x9F");
}

TEST(log_filter, utf16) {
  for (const bool little : {true, false}) {
    EXPECT_EQ(cleaned(utf16(u"RuntimeError: no\r\nnext", little)), "RuntimeError: no\nnext");
    EXPECT_EQ(cleaned(utf16(u"gr\u00FC\u00DFe \u20AC", little)), "gr??e ?");
    EXPECT_EQ(cleaned(utf16(u"\u001b[31mError\u001b[0m", little)), "Error");
    EXPECT_EQ(cleaned(utf16(u"", little)), "");
    const std::string odd = utf16(u"abc", little) + "d";
    EXPECT_EQ(cleaned(odd), "abc");
  }
}

TEST(log_filter, utf16_without_a_mark) {
  for (const bool little : {true, false}) {
    for (const std::u16string_view text :
         {std::u16string_view(u"no\r\nnext"),
          std::u16string_view(u"Traceback (most recent call last):\n  File \"gr\u00FC\u00DFe.py\", "
                              u"line 3\nRuntimeError: no\n")}) {
      const std::string marked = utf16(text, little);
      EXPECT_EQ(cleaned(marked.substr(2)), cleaned(marked));
    }
  }
  const std::string zeros("a\0b", 3);
  EXPECT_EQ(cleaned(zeros), zeros);
  const std::string few = std::string("a\0b", 3) + std::string(100, 'x');
  EXPECT_EQ(cleaned(few), few);
}

TEST(log_filter, colours_and_other_codes) {
  EXPECT_EQ(cleaned("\x1b[1;31mRuntimeError\x1b[0m: \x1b[38;5;1mno\x1b[K"), "RuntimeError: no");
  EXPECT_EQ(cleaned("\x1b]0;a title\x07text"), "text");
  EXPECT_EQ(cleaned("\x1b]8;;file:///a\x1b\\link\x1b]8;;\x1b\\ and text"), "link and text");
  EXPECT_EQ(cleaned("\x1b(not a code"), "not a code");
}

TEST(log_filter, a_code_that_is_cut_off_costs_no_line) {
  EXPECT_EQ(cleaned("one\x1b\ntwo"), "one\ntwo");
  EXPECT_EQ(cleaned("one\x1b[31\ntwo"), "one\ntwo");
  EXPECT_EQ(cleaned("one\x1b]0;title\ntwo\nthree"), "one\ntwo\nthree");
  EXPECT_EQ(cleaned("one\x1b]0;title\x1b\ntwo"), "one\ntwo");
  EXPECT_EQ(cleaned("one\x1b"), "one");
}

TEST(log_filter, carriage_returns) {
  EXPECT_EQ(cleaned("one\r\ntwo\r\n"), "one\ntwo\n");
  EXPECT_EQ(cleaned("10%\r50%\r100%\nRuntimeError: no\n"), "10%\n50%\n100%\nRuntimeError: no\n");
  EXPECT_EQ(cleaned("one\r"), "one");
}

TEST(log_filter, platform) {
  EXPECT_EQ(platform_of("nothing that tells\n"), "");
  EXPECT_EQ(platform_of("  File \"C:\\Users\\someone\\train.py\", line 3"), "windows");
  EXPECT_EQ(platform_of("amdhip64_7.dll was not found"), "windows");
  EXPECT_EQ(platform_of("  File \"/home/someone/train.py\", line 3"), "linux");
  EXPECT_EQ(platform_of("libamdhip64.so.6: cannot open shared object file"), "linux");
  EXPECT_EQ(platform_of("WSL environment detected.\n/usr/lib/wsl/lib\n"), "wsl");
  EXPECT_EQ(platform_of("C:\\a and /usr/bin"), "");
  EXPECT_EQ(platform_of("C:\\a, D:\\b and /usr/bin"), "windows");
}

}  // namespace
