// SPDX-License-Identifier: Apache-2.0
#include "known_issue_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <system_error>

#include "errors.hpp"
#include "host/common/nearest.hpp"
#include "host/common/toml.hpp"
#include "host/diagnosis/knowledge.hpp"

namespace assay {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view keys[] = {"id",    "architecture", "torch", "build",  "device",
                                     "fails", "reason",       "link",  "expires"};

std::string date_text(int year, unsigned month, unsigned day) {
  return fmt::format("{:04}-{:02}-{:02}", year, month, day);
}

/// "2027-03-01", where that is a day.
std::optional<std::string> read_date(const std::string& text) {
  const auto digits = [&](std::size_t at, std::size_t count) {
    const std::string part = text.substr(at, count);
    return part.size() == count && part.find_first_not_of("0123456789") == std::string::npos
               ? std::stoi(part)
               : -1;
  };
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') {
    return std::nullopt;
  }
  const int year = digits(0, 4);
  const int month = digits(5, 2);
  const int day = digits(8, 2);
  const bool real =
      year >= 0 && month > 0 && day > 0 && (std::chrono::year(year) / month / day).ok();
  return real ? std::optional(text) : std::nullopt;
}

bool is_one_line(const std::string& text) {
  return !text.empty() && text.find_first_of("\r\n") == std::string::npos;
}

class reader {
 public:
  explicit reader(const fs::path& file) : file_(file) {}

  std::vector<known_issue> read(const toml::table& root) const {
    for (const auto& [key, value] : root) {
      constexpr std::string_view only[] = {"issue"};
      if (key.str() != only[0]) {
        const std::string near = did_you_mean(key.str(), only);
        fail(value, fmt::format("the file has no key '{}'{}", key.str(),
                                near.empty() ? "; it holds [[issue]] tables alone" : near));
      }
    }
    std::vector<known_issue> issues;
    const toml::node* list = root.get("issue");
    if (list == nullptr) {
      return issues;
    }
    const toml::array* tables = list->as_array();
    if (tables == nullptr) {
      fail(*list, "an issue is written as [[issue]]");
    }
    for (const toml::node& one : *tables) {
      if (!one.is_table()) {
        fail(one, "an issue is written as [[issue]]");
      }
      issues.push_back(read_issue(*one.as_table()));
    }
    return issues;
  }

 private:
  [[noreturn]] void fail(const toml::node& where, const std::string& what) const {
    throw usage_error(fmt::format("{}:{}: {}", file_.string(), where.source().begin.line, what));
  }

  known_issue read_issue(const toml::table& from) const {
    for (const auto& [key, value] : from) {
      if (std::find(std::begin(keys), std::end(keys), key.str()) == std::end(keys)) {
        const std::string near = did_you_mean(key.str(), keys);
        fail(value,
             fmt::format("an [[issue]] has no key '{}'{}", key.str(),
                         near.empty() ? fmt::format("; it has {}", fmt::join(keys, ", ")) : near));
      }
    }
    known_issue issue;
    issue.file = file_;
    issue.line = static_cast<int>(from.source().begin.line);
    issue.ids = texts(from, "id");
    if (issue.ids.empty()) {
      fail(from, "an [[issue]] needs 'id', a glob such as \"conv/conv2d*\" (\"*\": every check)");
    }
    issue.reason = text(from, "reason");
    if (issue.reason.empty()) {
      fail(from, "an [[issue]] needs 'reason', one line that says why the failure is expected");
    }
    issue.architectures = texts(from, "architecture");
    issue.builds = words(from, "build", {"rocm", "cuda", "cpu"});
    issue.devices = texts(from, "device");
    issue.fails = words(from, "fails", known_failures());
    issue.link = text(from, "link");
    issue.expires = date(from);
    issue.torch = text(from, "torch");
    try {
      static_cast<void>(version_in("0", issue.torch));
    } catch (const std::invalid_argument& e) {
      fail(*from.get("torch"), fmt::format("'torch': {}", e.what()));
    }
    return issue;
  }

  std::string text(const toml::table& from, std::string_view key) const {
    const toml::node* node = from.get(key);
    if (node == nullptr) {
      return "";
    }
    const auto value = node->value<std::string>();
    if (!node->is_string() || !is_one_line(*value)) {
      fail(*node, fmt::format("'{}' is a text of one line, in quotes", key));
    }
    return *value;
  }

  /// One text, or a list of them.
  std::vector<std::string> texts(const toml::table& from, std::string_view key) const {
    const toml::node* node = from.get(key);
    if (node == nullptr || !node->is_array()) {
      const std::string one = text(from, key);
      return one.empty() ? std::vector<std::string>() : std::vector{one};
    }
    std::vector<std::string> list;
    for (const toml::node& item : *node->as_array()) {
      const auto value = item.value<std::string>();
      if (!item.is_string() || !is_one_line(*value)) {
        fail(item, fmt::format("'{}' holds texts of one line, in quotes", key));
      }
      list.push_back(*value);
    }
    if (list.empty()) {
      fail(*node, fmt::format("'{}' is empty; name something, or take it out", key));
    }
    return list;
  }

  std::vector<std::string> words(const toml::table& from, std::string_view key,
                                 const std::vector<std::string_view>& allowed) const {
    std::vector<std::string> list = texts(from, key);
    for (const std::string& word : list) {
      if (std::find(allowed.begin(), allowed.end(), word) == allowed.end()) {
        fail(*from.get(key), fmt::format("'{}' cannot be '{}'; use {}{}", key, word,
                                         fmt::join(allowed, ", "), did_you_mean(word, allowed)));
      }
    }
    return list;
  }

  std::string date(const toml::table& from) const {
    const toml::node* node = from.get("expires");
    if (node == nullptr) {
      return "";
    }
    if (const auto day = node->value<toml::date>(); day && node->is_date()) {
      return date_text(day->year, day->month, day->day);
    }
    const auto given = node->value<std::string>();
    const auto read = node->is_string() ? read_date(*given) : std::nullopt;
    if (!read) {
      fail(*node, "'expires' is a day, written 2027-03-01");
    }
    return *read;
  }

  fs::path file_;
};

}  // namespace

std::string known_issue::place() const {
  return fmt::format("{}:{}", file.filename().string(), line);
}

const std::vector<std::string_view>& known_failures() {
  static const std::vector<std::string_view> words{
      "error", "crash", "timeout", "ran", "on_device", "no_fallback", "correct", "path", "speed"};
  return words;
}

std::vector<known_issue> read_known_issues(const fs::path& file, std::string_view text) {
  try {
    return reader(file).read(parse_toml(text));
  } catch (const toml_syntax_error& e) {
    throw usage_error(fmt::format("{}:{}: {}", file.string(), e.line(), e.what()));
  }
}

std::vector<known_issue> read_known_issues(const std::vector<fs::path>& files) {
  std::vector<known_issue> all;
  for (const fs::path& file : files) {
    std::ifstream stream(file, std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(stream), {});
    if (!stream.is_open() || stream.bad()) {
      throw usage_error(fmt::format(
          "the file of known issues {} cannot be read; it must be a file that you may read",
          file.string()));
    }
    auto issues = read_known_issues(file, text);
    std::move(issues.begin(), issues.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace assay
