// SPDX-License-Identifier: Apache-2.0
#include "knowledge.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>

#include "host/common/pack_contents.hpp"
#include "host/platform/platform.hpp"

namespace assay {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view rule_file_suffix = ".assay.toml";

bool is_rule_file(const fs::path& file) {
  return file.filename().string().ends_with(rule_file_suffix);
}

std::vector<fs::path> rule_files(const std::vector<fs::path>& places) {
  std::vector<fs::path> files;
  for (const fs::path& place : places) {
    std::error_code error;
    std::vector<fs::path> found;
    if (fs::is_directory(place, error)) {
      for (const auto& entry : fs::directory_iterator(place, error)) {
        if (is_rule_file(entry.path())) {
          found.push_back(entry.path());
        }
      }
      std::sort(found.begin(), found.end());
    } else if (is_rule_file(place)) {
      found.push_back(place);
    }
    for (const fs::path& file : found) {
      const fs::path whole = fs::absolute(file).lexically_normal();
      if (std::find(files.begin(), files.end(), whole) == files.end()) {
        files.push_back(whole);
      }
    }
  }
  return files;
}

std::vector<long> numbers_of(std::string_view version) {
  std::vector<long> numbers;
  const char* at = version.data();
  const char* const end = at + version.size();
  while (at != end) {
    long value = 0;
    const auto [stop, fault] = std::from_chars(at, end, value);
    if (fault != std::errc()) {
      break;
    }
    numbers.push_back(value);
    at = stop;
    if (at == end || *at != '.') {
      break;
    }
    ++at;
  }
  return numbers;
}

int compare(std::vector<long> a, std::vector<long> b) {
  const std::size_t length = std::max(a.size(), b.size());
  a.resize(length);
  b.resize(length);
  return a < b ? -1 : b < a ? 1 : 0;
}

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

bool read_file(const fs::path& file, std::string& text) {
  std::ifstream in(file, std::ios::binary);
  text.assign(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  return in.good() || in.eof();
}

}  // namespace

const catalogue_entry* knowledge::find(const std::string& code) const {
  const auto found = entries.find(code);
  return found == entries.end() ? nullptr : &found->second;
}

std::vector<std::string> knowledge::loose_ends() const {
  std::vector<std::string> lines;
  for (const rule& r : rules) {
    if (find(r.code) == nullptr) {
      lines.push_back("rule " + r.name + " names the diagnosis " + r.code + ", which no file has");
    }
  }
  for (const auto& [code, entry] : entries) {
    for (const std::string& other : entry.explains) {
      if (find(other) == nullptr) {
        lines.push_back("diagnosis " + code + " of " + entry.pack + " explains " + other +
                        ", which no file has");
      }
    }
  }
  return lines;
}

std::vector<std::string> knowledge::loose_ends(const std::set<std::string>& probes) const {
  std::vector<std::string> lines;
  for (const rule& r : rules) {
    if (!r.probe.empty() && !probes.contains(r.probe)) {
      lines.push_back("rule " + r.name + " names the probe " + r.probe +
                      ", which no plugin that was loaded has");
    }
  }
  return lines;
}

knowledge read_knowledge(const std::vector<fs::path>& places, bool trust_everything,
                         const judge_of_packs& judge) {
  knowledge all;
  for (const fs::path& file : rule_files(places)) {
    std::error_code error;
    std::string text;
    const bool readable = fs::is_regular_file(file, error) && read_file(file, text);
    if (const pack_contents holds = contents_of(text); holds.checks && !holds.rules) {
      continue;  // an op pack, whose row is the worker's
    }
    const rule_pack judged = judge ? judge(file) : rule_pack();
    if (!judged.refused.empty() || !judged.off.empty()) {
      all.packs.push_back(judged);
      all.packs.back().file = file;
      continue;
    }
    if (const auto who = platform::others_may_write(file); who && !trust_everything) {
      rule_pack& pack = all.packs.emplace_back();
      pack.file = file;
      pack.refused = *who +
                     ", who could change what it advises; mend that (chmod, chown), or say "
                     "--trust-plugins";
      continue;
    }
    if (!readable) {
      rule_pack& pack = all.packs.emplace_back();
      pack.file = file;
      pack.refused = "it is no file that can be read; mend its permissions, or take it away";
      continue;
    }
    all.add(file, text);
    all.packs.back().sha256 = judged.sha256;
  }
  return all;
}

bool has_rule_file(const fs::path& folder) { return !rule_files({folder}).empty(); }

bool version_in(std::string_view version, std::string_view range) {
  const std::vector<long> have = numbers_of(version);
  bool inside = true;  // to the end, so that a mistake in a later part is found too
  while (!range.empty()) {
    const auto comma = range.find(',');
    std::string_view part = trimmed(range.substr(0, comma));
    range = comma == std::string_view::npos ? std::string_view() : range.substr(comma + 1);
    static constexpr std::string_view operators[] = {">=", "<=", "==", ">", "<"};
    const auto* const sign =
        std::find_if(std::begin(operators), std::end(operators),
                     [&](std::string_view candidate) { return part.starts_with(candidate); });
    if (sign == std::end(operators)) {
      throw std::invalid_argument("version range '" + std::string(part) +
                                  "' begins with none of >= <= == > <");
    }
    const std::vector<long> bound = numbers_of(trimmed(part.substr(sign->size())));
    if (bound.empty()) {
      throw std::invalid_argument("version range '" + std::string(part) + "' has no number");
    }
    const int order = compare(have, bound);
    const bool holds = *sign == ">="   ? order >= 0
                       : *sign == "<=" ? order <= 0
                       : *sign == "==" ? order == 0
                       : *sign == ">"  ? order > 0
                                       : order < 0;
    inside = inside && holds;
  }
  return inside;
}

const char* name_of(confidence c) {
  return c == confidence::certain ? "certain" : c == confidence::likely ? "likely" : "possible";
}

const char* name_of(severity s) {
  return s == severity::error ? "error" : s == severity::warning ? "warning" : "notice";
}

}  // namespace assay
