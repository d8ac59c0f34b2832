// SPDX-License-Identifier: Apache-2.0
#include "tree.hpp"

#include <algorithm>
#include <system_error>

namespace diag_rocm::tree {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Takes the number that `text` begins with, without leading zeros.
std::string_view take_number(std::string_view& text) {
  std::size_t end = 0;
  while (end < text.size() && is_digit(text[end])) {
    ++end;
  }
  std::string_view number = text.substr(0, end);
  text.remove_prefix(end);
  while (number.size() > 1 && number.front() == '0') {
    number.remove_prefix(1);
  }
  return number;
}

}  // namespace

std::vector<std::filesystem::path> entries(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> found;
  std::error_code error;
  std::filesystem::directory_iterator at(folder, error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    found.push_back(at->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<std::filesystem::path> entries(const std::filesystem::path& folder,
                                           std::string_view prefix, std::string_view suffix) {
  auto found = entries(folder);
  std::erase_if(found, [&](const std::filesystem::path& path) {
    const std::string name = path.filename().string();
    return name.size() < prefix.size() + suffix.size() || !name.starts_with(prefix) ||
           !name.ends_with(suffix);
  });
  return found;
}

bool is_folder(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

bool is_file(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

std::filesystem::path shown(const std::filesystem::path& path, const std::filesystem::path& root) {
  const std::filesystem::path below = path.lexically_relative(root);
  if (root.empty() || below.empty() || *below.begin() == "..") {
    return path;
  }
  return "/" / below;
}

bool natural_less(std::string_view left, std::string_view right) {
  while (!left.empty() && !right.empty()) {
    if (is_digit(left.front()) && is_digit(right.front())) {
      const std::string_view a = take_number(left);
      const std::string_view b = take_number(right);
      if (a.size() != b.size()) {
        return a.size() < b.size();
      }
      if (a != b) {
        return a < b;
      }
      continue;
    }
    if (left.front() != right.front()) {
      return left.front() < right.front();
    }
    left.remove_prefix(1);
    right.remove_prefix(1);
  }
  return left.size() < right.size();
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) {
      parts.emplace_back(text.substr(0, end));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::vector<std::string> lines(std::string_view text) {
  auto found = split(text, '\n');
  for (std::string& line : found) {
    if (line.ends_with('\r')) {
      line.pop_back();
    }
  }
  std::erase(found, std::string());
  return found;
}

}  // namespace diag_rocm::tree
