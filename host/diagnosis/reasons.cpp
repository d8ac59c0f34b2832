// SPDX-License-Identifier: Apache-2.0
#include "reasons.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace assay {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_word(char c) {
  return is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_hexadecimal(std::string_view word) {
  word.remove_prefix(word.starts_with("0x") ? 2 : 0);
  return std::all_of(word.begin(), word.end(), [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  });
}

/// The check's name and those of its operators, the longest first.
std::vector<std::string> names_of(const failure_facts& facts) {
  std::vector<std::string> names{facts.check, facts.device};
  const std::string check = facts.check.substr(0, facts.check.find('['));
  names.push_back(check);
  names.push_back(check.substr(check.find('/') + 1));
  for (const std::string& whole : facts.operators) {
    names.push_back(whole);
    const std::string bare = whole.substr(0, whole.find('.'));
    names.push_back(bare);
    names.push_back(bare.substr(bare.rfind(':') + 1));
  }
  std::erase(names, "");
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return std::pair(b.size(), a) < std::pair(a.size(), b);
  });
  return names;
}

void leave_out(std::string& line, std::string_view name) {
  for (auto at = line.find(name); at != std::string::npos; at = line.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !is_word(line[at - 1])) && (end == line.size() || !is_word(line[end]))) {
      line.replace(at, name.size(), "~");
    }
  }
}

/// Names below a folder for temporary files are made up anew each time.
void leave_out_temporary(std::string& line) {
  for (const std::string_view folder : {"/tmp/", "\\Temp\\"}) {
    for (auto at = line.find(folder); at != std::string::npos; at = line.find(folder, at + 1)) {
      const std::size_t begin = at + folder.size();
      const std::size_t end = std::min(line.find_first_of("/\\:'\" ", begin), line.size());
      line.replace(begin, end - begin, "~");
    }
  }
}

std::string without_numbers(const std::string& line) {
  std::string kept;
  for (std::size_t at = 0; at < line.size();) {
    std::size_t end = at;
    bool digits = false;
    while (end < line.size() && is_word(line[end])) {
      digits = digits || is_digit(line[end]);
      ++end;
    }
    const std::string_view word = std::string_view(line).substr(at, end - at);
    if (digits && is_hexadecimal(word)) {
      kept += '#';
    } else {
      for (const char c : word) {
        if (!is_digit(c)) {
          kept += c;
        } else if (kept.empty() || kept.back() != '#') {
          kept += '#';
        }
      }
    }
    if (end < line.size()) {
      kept += line[end++];
    }
    at = end;
  }
  return kept;
}

bool is_decided(const found_diagnosis& d) {
  return !d.probe.empty() && (d.withdrawn || d.confidence == confidence::certain);
}

bool includes(const std::set<std::string>& all, const std::set<std::string>& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

}  // namespace

std::set<std::string> kind_of_evidence(const found_diagnosis& d, const failure_facts& facts) {
  const std::vector<std::string> names = names_of(facts);
  std::vector<std::string> lines = d.evidence;
  if (lines.empty()) {
    lines.push_back(d.cause);
  }
  std::set<std::string> kinds;
  for (std::string& line : lines) {
    for (const std::string& name : names) {
      leave_out(line, name);
    }
    leave_out_temporary(line);
    kinds.insert(without_numbers(line));
  }
  return kinds;
}

void shared_reasons::add(const found_diagnosis& d, const failure_facts& facts,
                         nlohmann::json check) {
  std::set<std::string> evidence = kind_of_evidence(d, facts);
  const auto same = std::find_if(reasons_.begin(), reasons_.end(), [&](const reason& other) {
    const found_diagnosis& o = *other.diagnosis;
    // What LibTorch says once a process is missing from the second failure.
    return o.entry == d.entry && o.withdrawn == d.withdrawn &&
           o.consequence_of == d.consequence_of &&
           ((is_decided(d) && is_decided(o) && d.probe == o.probe) ||
            includes(other.evidence, evidence) || includes(evidence, other.evidence));
  });
  if (same == reasons_.end()) {
    reasons_.push_back({&d, std::move(evidence), nlohmann::json::array({std::move(check)})});
    return;
  }
  same->checks.push_back(std::move(check));
  if (std::pair(d.confidence, evidence.size()) >
      std::pair(same->diagnosis->confidence, same->evidence.size())) {
    same->diagnosis = &d;
    same->evidence = std::move(evidence);
  }
}

std::vector<shared_reasons::reason> shared_reasons::in_order() const {
  std::vector<reason> list = reasons_;
  std::stable_sort(list.begin(), list.end(), [](const reason& a, const reason& b) {
    return diagnoser::goes_before(*a.diagnosis, *b.diagnosis);
  });
  return list;
}

}  // namespace assay
