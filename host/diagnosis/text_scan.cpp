// SPDX-License-Identifier: Apache-2.0
#include "text_scan.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace assay {

namespace {

constexpr std::size_t gram_size = 4;
constexpr std::size_t bucket_count = std::size_t{1} << 15;
constexpr std::size_t longest_line = 64 * 1024;  // a longer one counts as several
constexpr std::size_t longest_kept_line = 400;
constexpr std::size_t first_kept = 12;  // of the occurrences of one pattern
constexpr std::size_t last_kept = 4;
constexpr std::size_t excerpt_head = 128 * 1024;
constexpr std::size_t excerpt_tail = 64 * 1024;
constexpr std::size_t lines_around = 3;

std::uint32_t gram_at(const char* text) {
  std::uint32_t gram = 0;
  std::memcpy(&gram, text, gram_size);
  return gram;
}

std::size_t bucket_of(std::uint32_t gram) {
  return (gram * 2654435761U) >> 17U;  // Knuth's multiplicative hash, 15 bits
}

// What a line that reports a failure most likely holds; none of it says which failure.
std::vector<pattern> words_of_errors() {
  static constexpr std::array<const char*, 17> words{
      "error",         "fail",         "exception", "fatal",  "abort",  "traceback",
      "segfault",      "segmentation", "assert",    "cannot", "unable", "not found",
      "not supported", "timeout",      "timed out", "denied", "killed"};
  std::vector<pattern> list;
  for (const char* word : words) {
    list.push_back({word, {word}, 0, std::strlen(word)});
  }
  return list;
}

std::string kept(std::string_view line) {
  const auto begin = line.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) {
    return "";
  }
  line = line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
  if (line.size() <= longest_kept_line) {
    return std::string(line);
  }
  return std::string(line.substr(0, longest_kept_line)) + "...";
}

/// Whether the pieces stand in the line in this order, the first as early as it can.
bool stands_in(const pattern& wanted, const std::string& line) {
  std::size_t at = 0;
  for (const std::string& piece : wanted.pieces) {
    at = line.find(piece, at);
    if (at == std::string::npos) {
      return false;
    }
    at += piece.size();
  }
  return true;
}

void remember(std::vector<text_scan::occurrence>& list, std::size_t line, std::string_view text,
              weight counts) {
  if (list.size() == first_kept + last_kept) {
    list.erase(list.begin() + first_kept);
  }
  list.push_back({line, kept(text), counts});
}

}  // namespace

text_scan::text_scan(const knowledge& known)
    : known_(known),
      error_words_(words_of_errors()),
      buckets_(bucket_count + 1, 0),
      seen_at_(known.patterns.size() + error_words_.size(), 0),
      found_(known.patterns.size()) {
  // Of an anchor's grams, the rarest among all patterns is looked for: "error" is everywhere.
  std::map<std::uint32_t, std::size_t> uses;
  const auto each_gram = [](const std::string& anchor, auto&& visit) {
    for (std::size_t i = 0; i + gram_size <= anchor.size(); ++i) {
      visit(gram_at(anchor.data() + i), i);
    }
  };
  const auto pattern_at = [&](std::size_t i) -> const pattern& {
    return i < known_.patterns.size() ? known_.patterns[i]
                                      : error_words_[i - known_.patterns.size()];
  };
  for (std::size_t i = 0; i < seen_at_.size(); ++i) {
    each_gram(pattern_at(i).pieces[pattern_at(i).anchor],
              [&](std::uint32_t gram, std::size_t) { ++uses[gram]; });
  }
  for (std::size_t i = 0; i < seen_at_.size(); ++i) {
    keyed best{0, 0, i};
    std::size_t fewest = seen_at_.size() * longest_line;
    each_gram(pattern_at(i).pieces[pattern_at(i).anchor],
              [&](std::uint32_t gram, std::size_t offset) {
                if (uses[gram] < fewest) {
                  fewest = uses[gram];
                  best.gram = gram;
                  best.offset = static_cast<std::uint32_t>(offset);
                }
              });
    keys_.push_back(best);
  }
  std::sort(keys_.begin(), keys_.end(), [](const keyed& a, const keyed& b) {
    return std::pair(bucket_of(a.gram), a.gram) < std::pair(bucket_of(b.gram), b.gram);
  });
  for (const keyed& key : keys_) {
    ++buckets_[bucket_of(key.gram) + 1];
  }
  for (std::size_t i = 0; i < bucket_count; ++i) {
    buckets_[i + 1] += buckets_[i];
  }
}

void text_scan::feed(std::string_view part) {
  while (!part.empty()) {
    const auto end = part.find('\n');
    const std::size_t room = longest_line - pending_.size();
    if (room == 0 && end != 0) {  // what follows may also be the end of a line that just fits
      take_line(pending_);
      pending_.clear();
      continue;
    }
    const std::string_view taken = part.substr(0, std::min(end, room));
    const bool complete = end != std::string_view::npos && end <= room;
    if (pending_.empty() && complete) {
      take_line(taken);
    } else {
      pending_ += taken;
      if (complete) {
        take_line(pending_);
        pending_.clear();
      }
    }
    part.remove_prefix(taken.size() + (complete ? 1 : 0));
  }
}

void text_scan::end_line() {
  if (!pending_.empty()) {
    take_line(pending_);
    pending_.clear();
  }
}

void text_scan::take_line(std::string_view line) {
  ++line_;
  lower_.resize(line.size());
  std::transform(line.begin(), line.end(), lower_.begin(), [](char c) {
    return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  });
  weight_ = block_.next(lower_);
  weighed_ = false;
  const std::size_t own = known_.patterns.size();
  bool notable = false;
  for (std::size_t i = 0; i + gram_size <= lower_.size(); ++i) {
    const std::uint32_t gram = gram_at(lower_.data() + i);
    const std::size_t bucket = bucket_of(gram);
    for (std::uint32_t k = buckets_[bucket]; k < buckets_[bucket + 1]; ++k) {
      const keyed& key = keys_[k];
      if (key.gram != gram || seen_at_[key.pattern] == line_ || key.offset > i) {
        continue;
      }
      const pattern& wanted =
          key.pattern < own ? known_.patterns[key.pattern] : error_words_[key.pattern - own];
      const std::string& anchor = wanted.pieces[wanted.anchor];
      if (lower_.compare(i - key.offset, anchor.size(), anchor) != 0 ||
          !stands_in(wanted, lower_)) {
        continue;
      }
      seen_at_[key.pattern] = line_;
      if (key.pattern < own) {
        const weight counts = weigh(wanted);
        if (counts == weight::none) {
          continue;
        }
        remember(found_[key.pattern], line_, line, counts);
      } else if (suspicious_.empty() || suspicious_.back().line != line_) {
        remember(suspicious_, line_, line, weight::full);
      }
      notable = true;
    }
  }
  if (!weighed_ || weight_ != weight::none) {  // classifiers are not to read what only mentions
    keep_for_excerpt(line, notable);
  }
}

/// What the pattern counts for, which stands in the present line.
weight text_scan::weigh(const pattern& wanted) {
  if (!weighed_) {
    weighed_ = true;
    weight_ = std::min(weight_, weight_of(lower_));
    nameless_ = without_test_names(lower_);
  }
  return nameless_.empty() || stands_in(wanted, nameless_) ? weight_ : weight::none;
}

void text_scan::keep_for_excerpt(std::string_view line, bool notable) {
  const auto add = [&](std::string_view text) {
    std::string& to = head_.size() < excerpt_head ? head_ : tail_;
    to.append(text.substr(0, longest_line / 16)).push_back('\n');
    if (tail_.size() > 2 * excerpt_tail) {
      tail_.erase(0, tail_.find('\n', tail_.size() - excerpt_tail) + 1);
    }
  };
  if (whole_) {
    if (head_.size() < excerpt_head) {
      return add(line);
    }
    whole_ = false;
  }
  if (notable) {
    for (const std::string& earlier : before_) {
      add(earlier);
    }
    before_.clear();
    after_ = lines_around;
    return add(line);
  }
  if (after_ > 0) {
    --after_;
    return add(line);
  }
  if (before_.size() == lines_around) {
    before_.erase(before_.begin());
  }
  before_.emplace_back(line.substr(0, longest_line / 16));
}

std::string text_scan::excerpt() const { return head_ + tail_; }

}  // namespace assay
