// SPDX-License-Identifier: Apache-2.0
#include "common/probing.hpp"

#include "common/platform.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <system_error>

namespace probing {

namespace fs = std::filesystem;

std::optional<std::string> read_text(const fs::path& path, std::size_t most) {
  std::ifstream stream(path, std::ios::binary);
  std::error_code code;
  if (!stream || fs::is_directory(path, code)) {
    return std::nullopt;
  }
  // Files of the kernel have no size: they are read until they end.
  std::string text;
  std::array<char, 4096> piece{};
  while (text.size() < most && stream) {
    stream.read(piece.data(),
                static_cast<std::streamsize>(std::min(piece.size(), most - text.size())));
    text.append(piece.data(), static_cast<std::size_t>(stream.gcount()));
  }
  // procfs and sysfs may refuse at the read.
  return stream.bad() ? std::nullopt : std::optional(std::move(text));
}

std::optional<std::string> read_end(const fs::path& path, std::size_t most) {
  std::error_code code;
  const auto size = fs::is_regular_file(path, code) ? fs::file_size(path, code) : 0;
  std::ifstream stream(path, std::ios::binary);
  if (code || !stream) {
    return std::nullopt;
  }
  const auto from = size > most ? size - most : 0;
  stream.seekg(static_cast<std::streamoff>(from));
  std::string text(static_cast<std::size_t>(size - from), '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  if (from > 0) {
    text.erase(0, std::min(text.find('\n'), text.size()));
  }
  return text;
}

bool is_there(const fs::path& path) {
  std::error_code code;
  return fs::exists(path, code);
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code code;
  for (fs::directory_iterator at(folder, code), end; !code && at != end; at.increment(code)) {
    names.push_back(at->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

fs::path link_target(const fs::path& link) {
  std::error_code code;
  const fs::path target = fs::read_symlink(link, code);
  return code ? fs::path() : target;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks(" \t\r\n\0", 5);
  const std::size_t from = text.find_first_not_of(blanks);
  return from == std::string_view::npos
             ? std::string_view()
             : text.substr(from, text.find_last_not_of(blanks) + 1 - from);
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines = split(text, '\n');
  if (!lines.empty() && lines.back().empty()) {
    lines.pop_back();
  }
  return lines;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t from = 0; from <= text.size() && !text.empty();) {
    const std::size_t end = std::min(text.find(separator, from), text.size());
    parts.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return parts;
}

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  std::string all;
  for (const std::string& part : parts) {
    all.append(all.empty() ? std::string_view() : separator).append(part);
  }
  return all;
}

std::optional<std::uint64_t> whole_number(std::string_view text, int base) {
  text = trimmed(text);
  if (base == 16 && text.substr(0, 2) == "0x") {
    text.remove_prefix(2);
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) {
    return std::nullopt;
  }
  return value;
}

std::string size_text(double bytes) {
  constexpr std::array units{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  while (bytes >= 1023.95 && unit + 1 < units.size()) {
    bytes /= 1024;
    ++unit;
  }
  const int decimals = unit == 0 || bytes >= 99.95 || (unit < 3 && bytes >= 9.95) ? 0 : 1;
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f %s", decimals, bytes, units.at(unit));
  return text.data();
}

std::vector<int> version_of(std::string_view text) {
  std::vector<int> parts;
  for (const std::string_view part : split(text, '.')) {
    int value = 0;
    std::from_chars(part.data(), part.data() + part.size(), value);
    parts.push_back(value);
  }
  while (!parts.empty() && parts.back() == 0) {
    parts.pop_back();
  }
  return parts;
}

bool older(std::string_view one, std::string_view other) {
  return version_of(one) < version_of(other);
}

std::string newest_with_prefix(const std::vector<std::string>& versions, std::string_view prefix) {
  std::string newest;
  for (const std::string& version : versions) {
    const std::string_view text(version);
    if (text.substr(0, prefix.size()) != prefix || text.size() == prefix.size() ||
        text[prefix.size()] < '0' || text[prefix.size()] > '9') {
      continue;
    }
    const std::string_view number = text.substr(prefix.size());
    if (newest.empty() || older(newest, number)) {
      newest = number;
    }
  }
  return newest;
}

variables variables_of(const assay::probe_site& site) {
  if (site.is_this_machine()) {
    return process_environment();
  }
  variables found;
  const std::string text = read_text(site.at("/environment")).value_or("");
  for (const std::string_view line : lines_of(text)) {
    const std::size_t equals = line.find('=');
    if (equals != std::string_view::npos) {
      found.emplace(trimmed(line.substr(0, equals)), trimmed(line.substr(equals + 1)));
    }
  }
  return found;
}

std::string value_of(const variables& from, const std::string& name) {
  const auto at = from.find(name);
  return at == from.end() ? std::string() : at->second;
}

bool is_wsl(const assay::probe_site& site) {
  if (is_there(site.at("/dev/dxg"))) {
    return true;
  }
  const std::string version = read_text(site.at("/proc/version")).value_or("");
  return version.find("microsoft") != std::string::npos ||
         version.find("Microsoft") != std::string::npos;
}

assay::probe_answer yes(std::string fact) {
  return {.state = assay::probe_state::yes, .fact = std::move(fact)};
}

assay::probe_answer no(std::string fact, std::string finding) {
  assay::probe_answer answer{.state = assay::probe_state::no, .fact = std::move(fact)};
  if (!finding.empty()) {
    answer.findings.push_back(std::move(finding));
  }
  return answer;
}

assay::probe_answer unknown(std::string reason) { return {.fact = std::move(reason)}; }

}  // namespace probing
