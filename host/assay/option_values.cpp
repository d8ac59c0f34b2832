// SPDX-License-Identifier: Apache-2.0
#include "option_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/program_options/parsers.hpp>
#include <charconv>
#include <cmath>
#include <locale>
#include <map>
#include <sstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "errors.hpp"
#include "host/common/dtype_names.hpp"
#include "host/common/nearest.hpp"
#include "host/store/run_store.hpp"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr double week_s = 7 * 24 * 3600.0;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

/// "did you mean" also for another case and for names that people carry over from elsewhere.
template <typename Range>
std::string suggestion(const std::string& text, const Range& known,
                       const std::map<std::string, std::string>& habits = {}) {
  const auto habit = habits.find(lower(text));
  return habit == habits.end() ? did_you_mean(lower(text), known)
                               : "; did you mean '" + habit->second + "'?";
}

bool all_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

fs::path absolute_path(const std::string& text, const fs::path& base) {
  return (base / fs::path(text)).lexically_normal();
}

}  // namespace

bool parse_flag(const std::string& origin, const std::string& text) {
  const std::string word = lower(text);
  if (word == "true" || word == "1" || word == "yes") {
    return true;
  }
  if (word == "false" || word == "0" || word == "no") {
    return false;
  }
  throw usage_error(fmt::format("{}: '{}' is neither yes nor no; use true, false, 1, 0, yes or no",
                                origin, text));
}

std::string parse_device(const std::string& origin, const std::string& text) {
  static constexpr std::array<std::string_view, 5> names = {"auto", "cpu", "cuda", "hip", "all"};
  const auto colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  if (std::find(names.begin(), names.end(), kind) != names.end()) {
    if (colon == std::string::npos) {
      return text;
    }
    const std::string number = text.substr(colon + 1);
    if ((kind == "cuda" || kind == "hip") && all_digits(number) && number.size() <= 3) {
      return kind + ":" + std::to_string(std::stoi(number));  // cuda:00 is cuda:0
    }
  }
  throw usage_error(fmt::format(
      "{}: unknown device '{}'; use auto, cpu, cuda, cuda:N, hip, hip:N or all{}", origin, text,
      colon == std::string::npos
          ? suggestion(text, names, {{"rocm", "hip"}, {"amd", "hip"}, {"gpu", "auto"}})
          : ""));
}

std::string parse_profile(const std::string& origin, const std::string& text) {
  static constexpr std::array<std::string_view, 3> names = {"classic", "quick", "measure"};
  if (std::find(names.begin(), names.end(), text) != names.end()) {
    return text;
  }
  throw usage_error(fmt::format("{}: unknown profile '{}'; use classic, quick or measure{}", origin,
                                text, suggestion(text, names)));
}

std::string parse_run_name(const std::string& origin, const std::string& text) {
  if (!is_run_name(text)) {
    throw usage_error(
        fmt::format("{}: '{}' is no name for a run; it has 1 to 64 letters, digits "
                    "and . _ -, and begins with none of . and -",
                    origin, text));
  }
  return text;
}

std::string parse_baseline(const std::string& origin, const std::string& text) {
  if (text == "cpu") {
    return text;
  }
  static constexpr std::array<std::string_view, 1> names = {"cpu"};
  throw usage_error(
      fmt::format("{}: unknown baseline '{}'; use cpu{}", origin, text, suggestion(text, names)));
}

std::string parse_sizes(const std::string& origin, const std::string& text) {
  static constexpr std::array<std::string_view, 3> names = {"classic", "large", "auto"};
  if (std::find(names.begin(), names.end(), text) != names.end()) {
    return text;
  }
  throw usage_error(fmt::format("{}: unknown sizes '{}'; use classic, large or auto{}", origin,
                                text, suggestion(text, names)));
}

std::string parse_platform(const std::string& origin, const std::string& text) {
  static constexpr std::array<std::string_view, 3> names = {"linux", "wsl", "windows"};
  if (std::find(names.begin(), names.end(), text) != names.end()) {
    return text;
  }
  throw usage_error(fmt::format("{}: unknown platform '{}'; use linux, wsl or windows{}", origin,
                                text, suggestion(text, names)));
}

std::string parse_architecture(const std::string& origin, const std::string& text) {
  const std::string name = lower(text);
  const std::string_view bare = std::string_view(name).substr(0, name.find(':'));
  const auto is_made_of = [](std::string_view part, std::string_view characters,
                             std::size_t shortest, std::size_t longest) {
    return part.size() >= shortest && part.size() <= longest &&
           part.find_first_not_of(characters) == std::string_view::npos;
  };
  if (bare.starts_with("gfx") && is_made_of(bare.substr(3), "0123456789abcdef", 3, 5)) {
    return name;
  }
  std::string_view number = std::string_view(name).substr(std::min<std::size_t>(3, name.size()));
  number.remove_suffix(!number.empty() && number.back() >= 'a' && number.back() <= 'z' ? 1 : 0);
  if (name.starts_with("sm_") && is_made_of(number, "0123456789", 2, 3)) {
    return name;
  }
  throw usage_error(fmt::format(
      "{}: '{}' is not the name of a GPU architecture; use one such as gfx1032 or sm_90", origin,
      text));
}

std::vector<std::string> parse_command(const std::string& origin, const std::string& text) {
  std::vector<std::string> words = boost::program_options::split_unix(text);
  if (words.empty()) {
    throw usage_error(fmt::format("{}: it names no program", origin));
  }
  return words;
}

std::string parse_dtype(const std::string& origin, const std::string& text) {
  std::vector<std::string> known{"float32", "float16", "bfloat16", "float64"};
  const std::string meant(dtype_meant(text));
  if (std::find(known.begin(), known.end(), meant) != known.end()) {
    return meant;
  }
  for (const auto& [alias, name] : dtype_aliases) {
    known.emplace_back(alias);
  }
  throw usage_error(
      fmt::format("{}: unknown dtype '{}'; use float32, float16, bfloat16 or float64{}", origin,
                  text, suggestion(text, known)));
}

double parse_seconds(const std::string& origin, const std::string& text) {
  std::istringstream stream(text);
  stream.imbue(std::locale::classic());
  double seconds = 0;
  stream >> std::noskipws >> seconds;
  if (stream.fail() || stream.peek() != std::istringstream::traits_type::eof() ||
      !std::isfinite(seconds)) {
    throw usage_error(fmt::format("{}: '{}' is not a number of seconds; use one such as 30 or 0.5",
                                  origin, text));
  }
  if (seconds <= 0 || seconds > week_s) {
    throw usage_error(fmt::format("{}: {} seconds is out of range; use more than 0 and at most {}",
                                  origin, text, week_s));
  }
  return seconds;
}

std::uint64_t parse_whole_number(const std::string& origin, const std::string& text,
                                 std::uint64_t maximum) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc::result_out_of_range || (error == std::errc() && number > maximum)) {
    throw usage_error(fmt::format("{}: {} is too large; use at most {}", origin, text, maximum));
  }
  if (error != std::errc() || rest != end) {
    throw usage_error(
        fmt::format("{}: '{}' is not a whole number; use 0, 1, 2, ...", origin, text));
  }
  return number;
}

fs::path parse_folder(const std::string& origin, const std::string& text, const fs::path& base) {
  const fs::path folder = absolute_path(text, base);
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (!fs::exists(status)) {
    throw usage_error(
        fmt::format("{}: there is no folder {}; name one that exists", origin, folder.string()));
  }
  if (!fs::is_directory(status)) {
    throw usage_error(
        fmt::format("{}: {} is a file; name the folder that holds it", origin, folder.string()));
  }
  return folder;
}

fs::path parse_input_file(const std::string& origin, const std::string& text,
                          const fs::path& base) {
  const fs::path file = absolute_path(text, base);
  std::error_code error;
  if (!fs::is_regular_file(file, error)) {
    throw usage_error(fmt::format("{}: {}; name a file that exists", origin,
                                  fs::exists(file, error) ? file.string() + " is no ordinary file"
                                                          : "there is no file " + file.string()));
  }
  return file;
}

fs::path parse_output_folder(const std::string& origin, const std::string& text,
                             const fs::path& base) {
  const fs::path folder = absolute_path(text, base);
  std::error_code error;
  if (fs::is_directory(folder, error)) {
    return folder;
  }
  if (fs::exists(folder, error)) {
    throw usage_error(
        fmt::format("{}: {} is a file; name a folder to write into", origin, folder.string()));
  }
  if (!fs::is_directory(
          folder.has_filename() ? folder.parent_path() : folder.parent_path().parent_path(),
          error)) {
    throw usage_error(fmt::format("{}: there is no folder in which to make {}; make it first",
                                  origin, folder.string()));
  }
  return folder;
}

fs::path parse_output_file(const std::string& origin, const std::string& text,
                           const fs::path& base) {
  const fs::path file = absolute_path(text, base);
  std::error_code error;
  if (fs::is_directory(file, error)) {
    throw usage_error(fmt::format("{}: {} is a folder; name a file", origin, file.string()));
  }
  if (!fs::is_directory(file.parent_path(), error)) {
    throw usage_error(fmt::format("{}: there is no folder {} to write into; make it first", origin,
                                  file.parent_path().string()));
  }
  return file;
}

}  // namespace assay
