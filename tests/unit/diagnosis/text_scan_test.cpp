// SPDX-License-Identifier: Apache-2.0
//
// The scanner, against a matcher that tries every pattern on every line.
#include "host/diagnosis/text_scan.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "host/common/glob.hpp"
#include "rules.hpp"

namespace {

using namespace assay;
using namespace assay::testing;

constexpr std::size_t longest_line = std::size_t{64} * 1024;

/// One rule with these patterns; pattern i of the knowledge is the i-th.
knowledge of_patterns(const std::vector<std::string>& patterns) {
  std::string list;
  for (const std::string& one : patterns) {
    list += "\"" + one + "\", ";
  }
  return known(likely("ACME-A", "any = [" + list + "]"));
}

std::vector<std::size_t> lines_of(const text_scan& scan, std::size_t pattern) {
  std::vector<std::size_t> lines;
  for (const text_scan::occurrence& one : scan.of(pattern)) {
    lines.push_back(one.line);
  }
  return lines;
}

std::vector<std::string> naive_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    for (; line.size() > longest_line; line.erase(0, longest_line)) {
      lines.push_back(line.substr(0, longest_line));
    }
    lines.push_back(line);
    at = end + 1;
  }
  return lines;
}

std::string lower(std::string text) {
  for (char& c : text) {
    c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  }
  return text;
}

/// The first twelve and the last four lines with the pattern.
std::vector<std::size_t> naive_matches(const std::string& text, const std::string& pattern) {
  std::vector<std::size_t> found;
  std::size_t number = 0;
  for (const std::string& line : naive_lines(text)) {
    ++number;
    if (glob_match("*" + lower(pattern) + "*", lower(line))) {
      found.push_back(number);
    }
  }
  if (found.size() > 16) {
    found.erase(found.begin() + 12, found.end() - 4);
  }
  return found;
}

TEST(text_scan, literal_text_and_case) {
  const knowledge all = of_patterns({"Driver Is", "gfx1032"});
  const text_scan scan = scanned(all, "acme: DRIVER is old\n\nno\nthe driver IS for GFX1032 only");
  EXPECT_EQ(lines_of(scan, 0), (std::vector<std::size_t>{1, 4}));
  EXPECT_EQ(lines_of(scan, 1), (std::vector<std::size_t>{4}));
  EXPECT_EQ(scan.of(0)[1].text, "the driver IS for GFX1032 only");
  EXPECT_EQ(scan.lines(), 4U);
}

TEST(text_scan, stars) {
  const knowledge all = of_patterns({"open*file*failed", "*denied", "abcd*abcd", "de*nied"});
  const text_scan scan = scanned(all,
                                 "openfilefailed\n"
                                 "open the file: failed\n"
                                 "file open failed\n"
                                 "open\nfile failed\n"
                                 "permission denied\n"
                                 "abcd\n"
                                 "abcdabcd\n");
  EXPECT_EQ(lines_of(scan, 0), (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(lines_of(scan, 1), (std::vector<std::size_t>{6}));
  EXPECT_EQ(lines_of(scan, 2), (std::vector<std::size_t>{8}));
  EXPECT_EQ(lines_of(scan, 3), (std::vector<std::size_t>{6}));
}

TEST(text_scan, any_texts_any_cuts) {
  std::mt19937 random(20261130);
  const auto pick = [&](std::size_t below) { return random() % below; };
  const auto letters = [&](std::size_t count, const char* of) {
    std::string text;
    const std::string alphabet = of;
    for (std::size_t i = 0; i < count; ++i) {
      text += alphabet[pick(alphabet.size())];
    }
    return text;
  };
  for (int round = 0; round < 150; ++round) {
    std::vector<std::string> patterns;
    for (std::size_t i = 0; i < 30; ++i) {
      std::string pattern = letters(4 + pick(4), "abC");
      for (std::size_t pieces = pick(3); pieces > 0; --pieces) {
        pattern += "*" + letters(1 + pick(5), "Abc");
      }
      patterns.push_back((pick(4) == 0 ? "*" : "") + pattern + (pick(4) == 0 ? "*" : ""));
    }
    const std::string text = letters(1 + pick(4000), round % 2 == 0 ? "aBc\n" : "abcABCab cabc\n");
    const knowledge all = of_patterns(patterns);
    text_scan scan(all);
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t size = 1 + pick(round % 3 == 0 ? 3 : 500);
      scan.feed(std::string_view(text).substr(at, size));
      at += size;
    }
    scan.end_line();
    EXPECT_EQ(scan.lines(), naive_lines(text).size());
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      ASSERT_EQ(lines_of(scan, i), naive_matches(text, patterns[i])) << patterns[i] << "\n" << text;
    }
  }
}

TEST(text_scan, lines_around_the_longest) {
  const knowledge all = of_patterns({"acme fails"});
  for (const std::size_t length :
       {longest_line - 1, longest_line, longest_line + 1, 3 * longest_line, 3 * longest_line + 7}) {
    std::string line(length, 'x');
    line.replace(length - 10, 10, "acme fails");
    const std::string text = line + "\nnext\n" + line + "\nacme fails";
    for (const std::size_t piece : {std::size_t{1000}, longest_line, text.size()}) {
      text_scan scan(all);
      for (std::size_t at = 0; at < text.size(); at += piece) {
        scan.feed(std::string_view(text).substr(at, piece));
      }
      scan.end_line();
      EXPECT_EQ(scan.lines(), naive_lines(text).size()) << length << " in pieces of " << piece;
      EXPECT_EQ(lines_of(scan, 0), naive_matches(text, "acme fails"))
          << length << " in pieces of " << piece;
    }
  }
}

TEST(text_scan, first_and_last_occurrences) {
  const knowledge all = of_patterns({"acme fails"});
  text_scan scan(all);
  for (int i = 1; i <= 1000; ++i) {
    scan.feed("acme fails " + std::to_string(i) + "\n");
  }
  const auto& found = scan.of(0);
  ASSERT_EQ(found.size(), 16U);
  EXPECT_EQ(found[0].text, "acme fails 1");
  EXPECT_EQ(found[11].text, "acme fails 12");
  EXPECT_EQ(found[12].text, "acme fails 997");
  EXPECT_EQ(found[15].text, "acme fails 1000");
  EXPECT_EQ(found[15].line, 1000U);
}

TEST(text_scan, occurrences_are_shortened) {
  const knowledge all = of_patterns({"acme fails"});
  const text_scan scan = scanned(all, " \t acme fails " + std::string(9000, 'x') + " \r\n");
  ASSERT_EQ(scan.of(0).size(), 1U);
  EXPECT_TRUE(scan.of(0)[0].text.starts_with("acme fails x"));
  EXPECT_LE(scan.of(0)[0].text.size(), 403U);
  EXPECT_TRUE(scan.of(0)[0].text.ends_with("..."));
}

TEST(text_scan, suspicious_lines) {
  const knowledge all = of_patterns({"acme fails"});
  const text_scan scan =
      scanned(all, "fine\nValueError: no\nPermission DENIED\nKilled\nall good\n");
  ASSERT_EQ(scan.suspicious().size(), 3U);
  EXPECT_EQ(scan.suspicious()[0].line, 2U);
  EXPECT_EQ(scan.suspicious()[0].text, "ValueError: no");
  EXPECT_EQ(scan.suspicious()[2].text, "Killed");
}

TEST(text_scan, bounded_whatever_comes) {
  const knowledge all = of_patterns({"acme fails"});
  text_scan scan(all);
  std::string piece;
  for (int i = 0; i < 1000; ++i) {
    piece += i % 3 == 0 ? "acme fails with an error and an exception\n" : "nothing to see here\n";
  }
  for (int i = 0; i < 500; ++i) {
    scan.feed(piece);
  }
  scan.feed("the last error\n");
  EXPECT_EQ(scan.lines(), 500001U);
  EXPECT_EQ(scan.of(0).size(), 16U);
  EXPECT_EQ(scan.suspicious().size(), 16U);
  const std::string excerpt = scan.excerpt();
  EXPECT_LT(excerpt.size(), std::size_t{300} * 1024);
  EXPECT_TRUE(excerpt.starts_with("acme fails"));
  EXPECT_TRUE(excerpt.ends_with("the last error\n"));
}

TEST(text_scan, excerpt_of_a_short_text_is_the_text) {
  const knowledge all = of_patterns({"acme fails"});
  EXPECT_EQ(scanned(all, "one\ntwo\n\nacme fails").excerpt(), "one\ntwo\n\nacme fails\n");
  EXPECT_EQ(scanned(all, "").excerpt(), "");
  EXPECT_EQ(scanned(all, "").lines(), 0U);
}

TEST(text_scan, excerpt_of_a_long_text_has_what_is_notable_and_the_lines_around) {
  const knowledge all = of_patterns({"acme fails"});
  text_scan scan(all);
  for (int i = 0; i < 100000; ++i) {
    scan.feed("line " + std::to_string(i) + (i == 70000 ? " acme fails\n" : "\n"));
  }
  const std::string excerpt = scan.excerpt();
  EXPECT_NE(excerpt.find("line 69997\nline 69998\nline 69999\nline 70000 acme fails\nline 70001\n"
                         "line 70002\nline 70003\n"),
            std::string::npos);
  EXPECT_EQ(excerpt.find("line 60000\n"), std::string::npos);
}

TEST(text_scan, parts_do_not_run_together) {
  const knowledge all = of_patterns({"acme fails"});
  text_scan scan(all);
  scan.feed("acme ");
  scan.end_line();
  scan.feed("fails");
  scan.end_line();
  scan.end_line();
  EXPECT_TRUE(scan.of(0).empty());
  EXPECT_EQ(scan.lines(), 2U);
}

TEST(text_scan, any_bytes) {
  const knowledge all = of_patterns({"acme fails"});
  std::string bytes;
  std::mt19937 random(7);
  for (int i = 0; i < 200000; ++i) {
    bytes += static_cast<char>(random());
  }
  EXPECT_TRUE(scanned(all, bytes).of(0).empty());
  EXPECT_EQ(scanned(all, bytes + "\n\0acme fails\xff").of(0).size(), 0U);  // ends at the zero
  EXPECT_EQ(scanned(all, bytes + "\n\xff\xfe acme fails\xff").of(0).size(), 1U);
}

}  // namespace
