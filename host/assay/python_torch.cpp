// SPDX-License-Identifier: Apache-2.0
#include "python_torch.hpp"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/read.hpp>
#if __has_include(<boost/process/v1/child.hpp>)
#include <boost/process/v1/args.hpp>
#include <boost/process/v1/async_pipe.hpp>
#include <boost/process/v1/child.hpp>
#include <boost/process/v1/env.hpp>
#include <boost/process/v1/environment.hpp>
#include <boost/process/v1/exe.hpp>
#include <boost/process/v1/group.hpp>
#include <boost/process/v1/io.hpp>
namespace bp = boost::process::v1;
#else
#include <boost/process/args.hpp>
#include <boost/process/async_pipe.hpp>
#include <boost/process/child.hpp>
#include <boost/process/env.hpp>
#include <boost/process/environment.hpp>
#include <boost/process/exe.hpp>
#include <boost/process/group.hpp>
#include <boost/process/io.hpp>
namespace bp = boost::process;
#endif
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

namespace assay {
namespace {

namespace fs = std::filesystem;

#ifdef _WIN32
constexpr bool windows = true;
#else
constexpr bool windows = false;
#endif

using variable_map = std::map<std::string, std::string>;

std::string value_of(const variable_map& variables, const char* name) {
  const auto found = variables.find(name);
  return found == variables.end() ? "" : found->second;
}

/// What `pip uninstall` leaves behind (an empty folder, caches) is no torch.
bool is_torch_package(const fs::path& dir) {
  std::error_code error;
  return fs::exists(dir / "version.py", error) || fs::is_directory(dir / "lib", error);
}

/// "python3.11" -> 11, "python3" -> 0; nothing for other names.
std::optional<int> minor_number(std::string_view name) {
  constexpr std::string_view stem = "python3";
  if (name.substr(0, stem.size()) != stem) {
    return std::nullopt;
  }
  name.remove_prefix(stem.size());
  if (name.empty()) {
    return 0;
  }
  name.remove_prefix(1);
  int number = 0;
  for (const char c : name) {
    if (c < '0' || c > '9' || number > 1000) {
      return std::nullopt;
    }
    number = number * 10 + (c - '0');
  }
  return number;
}

/// Neither a program nor a library is taken from the current folder, which is what an empty or a
/// relative entry means.
std::string absolute_entries(const std::string& path) {
  std::istringstream folders(path);
  std::string kept;
  for (std::string folder; std::getline(folders, folder, windows ? ';' : ':');) {
    if (fs::path(folder).is_absolute()) {
      kept += (kept.empty() ? "" : windows ? ";" : ":") + folder;
    }
  }
  return kept;
}

std::optional<fs::path> search_path(const variable_map& variables, const std::string& name) {
  std::istringstream folders(absolute_entries(value_of(variables, "PATH")));
  for (std::string folder; std::getline(folders, folder, windows ? ';' : ':');) {
    const fs::path file = fs::path(folder) / (windows ? name + ".exe" : name);
    std::error_code error;
    const fs::file_status status = fs::status(file, error);
    constexpr fs::perms runnable =
        fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
    if (fs::is_regular_file(status) && (status.permissions() & runnable) != fs::perms::none) {
      return file;
    }
  }
  return std::nullopt;
}

bool is_script(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  char start[2] = {};
  return stream.read(start, 2) && start[0] == '#' && start[1] == '!';
}

/// A virtual environment says so in pyvenv.cfg, and whether it sees the system's packages too.
bool sees_system_packages(const fs::path& prefix) {
  std::ifstream stream(prefix / "pyvenv.cfg");
  for (std::string line; std::getline(stream, line);) {
    std::string text;
    std::copy_if(line.begin(), line.end(), std::back_inserter(text),
                 [](char c) { return c != ' ' && c != '\t' && c != '\r'; });
    if (text == "include-system-site-packages=true") {
      return true;
    }
  }
  return false;
}

/// Everything that `python` writes to standard output, or "" when it takes too long.
std::string output_of(const fs::path& python, const std::vector<std::string>& arguments,
                      std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  std::error_code error;
  boost::asio::io_context context;
  bp::async_pipe pipe(context);
  bp::group group;  // a shim may start the real Python as a child of its own
  bp::environment environment = boost::this_process::environment();
  environment["PYTHONPATH"] = absolute_entries(environment["PYTHONPATH"].to_string());
  bp::child child(environment, bp::exe = python.string(), bp::args = arguments, bp::std_out > pipe,
                  bp::std_err > bp::null, bp::std_in < bp::null, group, error);
  if (error) {
    return "";
  }
  std::string text;
  boost::asio::async_read(pipe, boost::asio::dynamic_buffer(text),
                          [](const boost::system::error_code&, std::size_t) {});
  context.run_for(patience);
  while (child.running(error) && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  const bool ended = !child.running(error);
  if (!ended) {
    group.terminate(error);
  }
  child.wait(error);
  return ended ? text : "";
}

std::optional<fs::path> ask_python(const fs::path& python, std::chrono::milliseconds patience) {
  const std::string text = output_of(python,
                                     {"-c",
                                      // Where -c begins to look is the current folder.
                                      "import sys; sys.path[:]=[p for p in sys.path if p]; "
                                      "import importlib.util as u; s=u.find_spec('torch'); "
                                      "print(s.submodule_search_locations[0] if s else '')"},
                                     patience);
  std::istringstream lines(text);
  std::string last;
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line.back() == '\r') {
      line.pop_back();
    }
    last = line.empty() ? last : line;
  }
  if (last.empty() || !is_torch_package(last)) {
    return std::nullopt;
  }
  return fs::path(last);
}

std::optional<fs::path> torch_on_python_path(const variable_map& variables) {
  std::istringstream folders(absolute_entries(value_of(variables, "PYTHONPATH")));
  for (std::string folder; std::getline(folders, folder, windows ? ';' : ':');) {
    if (is_torch_package(fs::path(folder) / "torch")) {
      return fs::path(folder) / "torch";
    }
  }
  return std::nullopt;
}

/// Of a Python that is no virtual environment: what `pip install --user` and Debian's pip wrote
/// comes before the prefix's own packages.
std::optional<fs::path> torch_of_system_python(const fs::path& prefix, const std::string& minor,
                                               const variable_map& variables) {
  std::vector<fs::path> prefixes;
  const std::string home = value_of(variables, "HOME");
  if (!home.empty() && !minor.empty() && value_of(variables, "PYTHONNOUSERSITE").empty()) {
    prefixes.push_back(fs::path(home) / ".local");
  }
  prefixes.push_back(prefix / "local");
  prefixes.push_back(prefix);
  for (const fs::path& candidate : prefixes) {
    if (auto torch = torch_in_prefix(candidate, minor)) {
      return torch;
    }
  }
  return std::nullopt;
}

fs::path prefix_of(const fs::path& python) {
  const fs::path folder = python.parent_path();
  // On Windows python.exe lies in the prefix itself, except in a virtual environment.
  return windows && folder.filename() != "Scripts" ? folder : folder.parent_path();
}

std::optional<fs::path> torch_of_python(const fs::path& python, const variable_map& variables,
                                        std::chrono::milliseconds patience) {
  std::error_code error;
  const fs::path prefix = prefix_of(python);
  if (fs::exists(prefix / "pyvenv.cfg", error)) {
    auto torch = torch_in_prefix(prefix);
    return torch || !sees_system_packages(prefix) ? torch : ask_python(python, patience);
  }
  if (is_script(python)) {
    return ask_python(python, patience);
  }
  const fs::path real = fs::canonical(python, error);
  const std::string name = real.stem() == "python3" ? real.filename().string() : "";
  const auto number = minor_number(name);
  const std::string minor = number && *number > 0 ? "3." + std::to_string(*number) : "";
  if (auto torch = torch_of_system_python(prefix, minor, variables)) {
    return torch;
  }
  return real.empty() ? std::nullopt : torch_of_system_python(prefix_of(real), minor, variables);
}

}  // namespace

std::optional<fs::path> torch_in_prefix(const fs::path& prefix, const std::string& minor) {
  if (is_torch_package(prefix / "Lib" / "site-packages" / "torch")) {  // Windows
    return prefix / "Lib" / "site-packages" / "torch";
  }
  std::vector<std::pair<int, fs::path>> folders;
  for (const char* lib : {"lib", "lib64"}) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(prefix / lib, error)) {
      const auto number = minor_number(entry.path().filename().string());
      // lib/python3 is Debian's folder for every Python 3 of the system.
      if (number && (minor.empty() || *number == 0 || "3." + std::to_string(*number) == minor)) {
        folders.emplace_back(*number, entry.path());
      }
    }
  }
  std::stable_sort(folders.begin(), folders.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& folder : folders) {
    for (const char* packages : {"site-packages", "dist-packages"}) {
      const fs::path torch = folder.second / packages / "torch";
      if (is_torch_package(torch)) {
        return torch;
      }
    }
  }
  return std::nullopt;
}

std::optional<fs::path> active_python_torch(const variable_map& variables,
                                            std::chrono::milliseconds patience) {
  if (auto torch = torch_on_python_path(variables)) {
    return torch;
  }
  // A virtual environment made from a conda Python leaves CONDA_PREFIX set, but is the active one.
  const std::string virtual_env = value_of(variables, "VIRTUAL_ENV");
  const std::string active =
      virtual_env.empty() ? value_of(variables, "CONDA_PREFIX") : virtual_env;
  if (fs::path(active).is_absolute()) {
    if (auto torch = torch_in_prefix(active)) {
      return torch;
    }
  }
  for (const char* name : {"python3", "python"}) {
    if (const auto python = search_path(variables, name)) {
      return torch_of_python(*python, variables, patience);
    }
  }
  return std::nullopt;
}

}  // namespace assay
