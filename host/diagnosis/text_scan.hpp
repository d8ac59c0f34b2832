// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "knowledge.hpp"
#include "mention.hpp"

namespace assay {

/// Reads a text of any length once, line by line, and remembers where each pattern of a knowledge
/// occurs, and the lines that look like errors. What it keeps is bounded, whatever the length: the
/// first and last occurrences of a pattern, and the notable lines with those around them.
class text_scan {
 public:
  explicit text_scan(const knowledge& known);

  /// The next part of the text; a line may be cut anywhere.
  void feed(std::string_view part);
  /// The end of the text, or of one part that the next does not continue.
  void end_line();

  struct occurrence {
    std::size_t line;              // the first is 1
    std::string text;              // without blanks at its ends, shortened
    weight counts = weight::full;  // or slight
  };
  /// Where the pattern occurs, in order; empty: nowhere. What counts for nothing is left out.
  [[nodiscard]] const std::vector<occurrence>& of(std::size_t pattern) const {
    return found_[pattern];
  }

  [[nodiscard]] std::size_t lines() const { return line_; }
  /// Lines that look like errors, whether or not a rule knows them: the first and the last of them.
  [[nodiscard]] const std::vector<occurrence>& suspicious() const { return suspicious_; }
  /// The text itself where it is short, else its notable lines with those around them.
  [[nodiscard]] std::string excerpt() const;

 private:
  void take_line(std::string_view line);
  [[nodiscard]] weight weigh(const pattern& wanted);
  void keep_for_excerpt(std::string_view line, bool notable);

  struct keyed {
    std::uint32_t gram;    // four characters of an anchor
    std::uint32_t offset;  // where they stand in it
    std::size_t pattern;
  };

  const knowledge& known_;
  std::vector<pattern> error_words_;
  std::vector<keyed> keys_;             // by gram
  std::vector<std::uint32_t> buckets_;  // hash of a gram -> first of keys_; one past the end closes
  std::vector<std::size_t> seen_at_;    // by pattern: the last line where it was seen
  std::vector<std::vector<occurrence>> found_;
  std::vector<occurrence> suspicious_;
  std::string pending_;           // a line that is not at its end yet
  std::string lower_;             // the present line in lower case
  std::string nameless_;          // the same without the names of tests; "" where it names none
  weight weight_ = weight::full;  // of the present line: as the block has it, then as weighed
  bool weighed_ = false;
  quoted_block block_;
  std::size_t line_ = 0;
  std::string head_;  // of the excerpt
  std::string tail_;
  std::vector<std::string> before_;  // lines that may turn out to stand before a notable one
  std::size_t after_ = 0;            // lines still wanted behind one
  bool whole_ = true;                // head_ is the text itself
};

}  // namespace assay
