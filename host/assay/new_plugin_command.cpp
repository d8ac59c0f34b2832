// SPDX-License-Identifier: Apache-2.0
#include "new_plugin_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <ostream>
#include <string>
#include <system_error>
#include <vector>

#include "errors.hpp"
#include "host/common/nearest.hpp"
#include "rule_files.hpp"

namespace assay {

namespace {

namespace fs = std::filesystem;
using replacements = std::vector<std::pair<std::string, std::string>>;

constexpr std::size_t longest_id = 47;  // assay_stamp::id, with its closing zero

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// A name that is a category, a file and part of a code at once.
bool is_good(const std::string& name) {
  return !name.empty() && is_lower(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return is_lower(c) || is_digit(c) || c == '_'; });
}

std::string made_good(const std::string& name) {
  std::string good;
  for (const char c : name) {
    const char low = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    if (is_lower(low) || is_digit(low)) {
      good += low;
    } else if (!good.empty() && good.back() != '_') {
      good += '_';
    }
  }
  good.erase(good.find_last_not_of('_') + 1);
  good.erase(0, std::min(good.find_first_not_of("0123456789_"), good.size()));
  return good.empty() ? "my_ops" : good;
}

struct naming {
  std::string id;    // "com.acme.rope"
  std::string name;  // "rope"
};

/// "rope" and "com.acme.rope" will do.
naming names_from(const std::string& given, const installation& here) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin <= given.size()) {
    const std::size_t end = std::min(given.find('.', begin), given.size());
    parts.push_back(given.substr(begin, end - begin));
    begin = end + 1;
  }
  std::string better;
  for (const std::string& part : parts) {
    better += (better.empty() ? "" : ".") + (is_good(part) ? part : made_good(part));
  }
  if (better != given) {
    throw usage_error(
        fmt::format("'{}' is no plugin's name, which takes a-z, 0-9 and _, begins "
                    "with a letter, and may stand behind a domain (com.acme.rope); "
                    "did you mean '{}'?",
                    given, better));
  }
  if (given.size() > longest_id) {
    throw usage_error(
        fmt::format("the name '{}' is {} characters long, and an id has at most {}; "
                    "shorten it",
                    given, given.size(), longest_id));
  }
  const std::string& name = parts.back();
  if (fs::exists(plugin_file(here.plugin_dir / name))) {
    throw usage_error(
        fmt::format("assay's own plugin is named '{}'; take another name, such as "
                    "'my_{}'",
                    name, name));
  }
  return {given, name};
}

void must_be_free(const fs::path& dir) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(dir, error))) {
    return;
  }
  if (!fs::is_directory(dir, error)) {
    throw usage_error(fmt::format("{} is a file; name another folder with --dir", dir.string()));
  }
  if (!fs::is_empty(dir, error) || error) {
    throw usage_error(
        fmt::format("the folder {} is not empty; name another one with --dir, or "
                    "take away what it holds",
                    dir.string()));
  }
}

std::string replaced(std::string text, const replacements& words) {
  for (const auto& [from, to] : words) {
    for (std::size_t at = text.find(from); at != std::string::npos;
         at = text.find(from, at + to.size())) {
      text.replace(at, from.size(), to);
    }
  }
  return text;
}

/// "dot_github/workflows/ci.yml" -> ".github/workflows/ci.yml"
fs::path final_name(const fs::path& relative, const replacements& words) {
  constexpr std::string_view hidden = "dot_";
  fs::path name;
  for (const fs::path& part : relative) {
    std::string text = replaced(part.string(), words);
    name /= text.starts_with(hidden) ? "." + text.substr(hidden.size()) : text;
  }
  return name;
}

std::vector<fs::path> write_from(const fs::path& templates, const fs::path& dir,
                                 const replacements& words) {
  std::vector<fs::path> written;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(templates, error)) {
    if (!entry.is_regular_file()) {
      continue;
    }
    const fs::path name = final_name(fs::relative(entry.path(), templates), words);
    std::ifstream in(entry.path(), std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    fs::create_directories((dir / name).parent_path());
    std::ofstream out(dir / name, std::ios::binary);
    if (!in || !(out << replaced(text, words)) || !out.flush()) {
      throw tool_error(fmt::format("{} cannot be written; is there room, and may you write there?",
                                   (dir / name).string()));
    }
    written.push_back(name);
  }
  if (error || written.empty()) {
    throw tool_error(
        fmt::format("the templates are not in {}; install assay again, with its "
                    "share folder",
                    templates.string()));
  }
  return written;
}

std::string upper(std::string text) {
  for (char& c : text) {
    c = static_cast<char>(is_lower(c) ? c - 'a' + 'A' : c == '_' ? '-' : c);
  }
  return text;
}

/// As a shell takes it.
std::string quoted(const std::string& path) {
  return path.find_first_of(" '\"$\\&;()*?") == std::string::npos
             ? path
             : "'" + replaced(path, {{"'", "'\\''"}}) + "'";
}

void say_how(const new_plugin_request& request, const installation& here, const naming& names,
             const std::vector<fs::path>& files, std::ostream& out) {
  const std::string dir = quoted(request.dir.string());
  out << fmt::format("Wrote {} files to {}:\n", files.size(), dir);
  for (const fs::path& file : files) {
    out << fmt::format("  {}\n", file.string());
  }
  const fs::path root = here.libexec_dir.parent_path().parent_path();
  // By its path: an unpacked archive is on nobody's PATH.
  const std::string program = quoted((root / "bin" / "assay").string());
  out << fmt::format(
      "\nBuild it, test it, and see it listed:\n"
      "  cmake -S {0} -B {0}/build -DCMAKE_PREFIX_PATH={1}\n"
      "  cmake --build {0}/build\n"
      "  ctest --test-dir {0}/build --output-on-failure\n"
      "  {2} list --plugin-dir {0}/build/plugins\n",
      dir, quoted(root.string()), program);
  if (request.kind != "diagnostic") {
    out << fmt::format("  {} run --plugin-dir {}/build/plugins --enable {}\n", program, dir,
                       names.name);
  }
}

}  // namespace

int new_plugin(const new_plugin_request& request, const installation& here, std::ostream& out) {
  static const std::vector<std::string> kinds{"ops", "toml", "diagnostic"};
  if (std::find(kinds.begin(), kinds.end(), request.kind) == kinds.end()) {
    throw usage_error(fmt::format("--kind takes {}, not '{}'{}", fmt::join(kinds, ", "),
                                  request.kind, did_you_mean(request.kind, kinds)));
  }
  if (request.vendor.find_first_of("\"\\\n\r@") != std::string::npos) {
    throw usage_error("--vendor takes a text of one line without quotes, backslashes and @");
  }
  const naming names = names_from(request.name, here);
  must_be_free(request.dir);
  const replacements words{{"@name@", names.name},
                           {"@id@", names.id},
                           {"@ID@", upper(names.name)},
                           {"@vendor@", request.vendor.empty() ? "your name" : request.vendor},
                           {"@assay_version@", ASSAY_VERSION}};
  const bool was_there = fs::exists(request.dir);
  std::vector<fs::path> files;
  try {
    for (const std::string& part : {std::string("common"), request.kind}) {
      for (fs::path& file : write_from(here.templates_dir / part, request.dir, words)) {
        files.push_back(std::move(file));
      }
    }
  } catch (const std::exception& e) {
    // The folder was empty, so that all in it is ours.
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(request.dir, error)) {
      fs::remove_all(entry.path(), error);
    }
    if (!was_there) {
      fs::remove(request.dir, error);
    }
    throw tool_error(e.what());
  }
  std::sort(files.begin(), files.end());
  say_how(request, here, names, files, out);
  return exit_status::ok;
}

}  // namespace assay
