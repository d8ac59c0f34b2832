// SPDX-License-Identifier: Apache-2.0
#include "worker_process.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <mutex>
#include <random>
#include <system_error>
#include <thread>

#include "boost_process.hpp"
#include "errors.hpp"

namespace assay {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr std::uintmax_t excerpt_head_bytes = 16 * 1024;
constexpr std::uintmax_t excerpt_tail_bytes = 48 * 1024;
constexpr auto look_around_every = 50ms;

std::string random_name() {
  std::random_device source;
  static constexpr char digits[] = "0123456789abcdef";
  std::string name;
  for (int i = 0; i < 16; ++i) {
    name += digits[source() % 16];
  }
  return name;
}

std::string readable(std::string text) {
  for (char& c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '\r') {
      c = '\n';
    } else if ((code < 0x20 && c != '\n' && c != '\t') || code == 0x7F) {
      c = '?';
    }
  }
  return text;
}

std::uintmax_t size_of(const fs::path& file) {
  std::error_code error;
  const auto size = fs::file_size(file, error);
  return error ? 0 : size;
}

process::environment worker_environment(const std::vector<fs::path>& library_dirs,
                                        const environment_changes& changes) {
  process::environment environment = boost::this_process::environment();
#if defined(_WIN32)
  const char* name = "PATH";
#elif defined(__APPLE__)
  const char* name = "DYLD_LIBRARY_PATH";
#else
  const char* name = "LD_LIBRARY_PATH";
#endif
  // An empty or relative entry is the current folder to the loader: a stranger's, perhaps.
  std::vector<std::string> folders;
  for (const fs::path& dir : library_dirs) {
    folders.push_back(dir.string());
  }
  const auto given = environment.find(name);
  if (given != environment.end()) {
    for (const std::string& known : given->to_vector()) {
      if (fs::path(known).is_absolute()) {
        folders.push_back(known);
      }
    }
  }
  if (folders.empty()) {
    environment.erase(name);
  } else {
    environment[name] = folders;
  }
  for (const auto& [variable, value] : changes) {
    if (value) {
      environment[variable] = *value;
    } else {
      environment.erase(variable);
    }
  }
  return environment;
}

std::string on_search_path(const std::string& program) {
  std::vector<boost::filesystem::path> folders = boost::this_process::path();
  // As above.
  std::erase_if(folders, [](const auto& folder) { return !folder.is_absolute(); });
  return process::search_path(program, folders).string();
}

}  // namespace

scratch_folder::scratch_folder() {
  std::error_code error;
  const fs::path base = fs::temp_directory_path(error);
  path_ = base / ("assay-" + random_name());
  if (error || !fs::create_directory(path_, error)) {
    throw tool_error("cannot make the folder '" + path_.string() + "' for captured output (" +
                     error.message() + "); set TMPDIR to a folder that can be written");
  }
  fs::permissions(path_, fs::perms::owner_all, error);
}

scratch_folder::~scratch_folder() {
  std::error_code error;
  fs::remove_all(path_, error);
}

// The record pipe is read by a thread, so that waiting can have a deadline on every system.
struct worker_process::running {
  process::pipe commands;
  process::pipe records;
  process::group group;
  process::child child;
  std::mutex mutex;
  std::condition_variable arrived;
  std::deque<std::string> lines;
  bool at_end = false;
  std::thread reader;

  void read() {
    std::array<char, 65536> buffer{};
    std::string line;
    for (;;) {
      int count = 0;
      try {
        count = records.read(buffer.data(), static_cast<int>(buffer.size()));
      } catch (const std::exception&) {
        count = 0;
      }
      const std::scoped_lock lock(mutex);
      if (count <= 0) {
        at_end = true;
        arrived.notify_all();
        return;
      }
      for (const char* c = buffer.data(); c != buffer.data() + count; ++c) {
        if (*c == '\n') {
          lines.push_back(std::move(line));
          line.clear();
        } else {
          line.push_back(*c);
        }
      }
      arrived.notify_all();
    }
  }

  bool is_running() {
    std::error_code error;
    return child.running(error) && !error;
  }
};

worker_process::worker_process(const fs::path& program, const fs::path& scratch, int ordinal,
                               const std::vector<fs::path>& library_dirs,
                               const std::vector<std::string>& prefix,
                               const environment_changes& changes)
    : ordinal_(ordinal), scratch_(scratch), process_(std::make_unique<running>()) {
  std::vector<std::string> words = prefix;
  words.push_back(program.string());
  words.emplace_back("--serve");
  try {
    // search_path() leaves a name with a slash to itself.
    const bool bare = words.front().find_first_of("/\\") == std::string::npos;
    const std::string exe = bare ? on_search_path(words.front()) : words.front();
    if (exe.empty()) {
      throw tool_error("there is no program '" + words.front() + "' on PATH to start " +
                       program.string() + " with");
    }
    words.erase(words.begin());
    process_->child =
        process::child(process::exe = exe, process::args = words,
                       process::std_in<process_->commands, process::std_out> process_->records,
                       process::std_err > stderr_file().string(),
                       worker_environment(library_dirs, changes), process_->group);
  } catch (const std::exception& e) {
    throw tool_error("cannot start " + program.string() + ": " + e.what());
  }
  process_->reader = std::thread([this] { process_->read(); });
}

worker_process::~worker_process() {
  end(0ms);
  process_->reader.join();
}

fs::path worker_process::stdout_file() const {
  return scratch_ / ("worker-" + std::to_string(ordinal_) + ".out");
}

fs::path worker_process::stderr_file() const {
  return scratch_ / ("worker-" + std::to_string(ordinal_) + ".err");
}

void worker_process::send(const nlohmann::json& command) {
  at_command_ = output_so_far();
  const std::string line =
      command.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  try {
    for (std::size_t sent = 0; sent < line.size();) {
      const int count =
          process_->commands.write(line.data() + sent, static_cast<int>(line.size() - sent));
      if (count <= 0) {
        return;
      }
      sent += static_cast<std::size_t>(count);
    }
  } catch (const std::exception&) {
    return;  // it is gone
  }
}

worker_process::clock::time_point worker_process::seconds_from_now(double seconds) {
  return clock::now() +
         std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(seconds));
}

worker_process::happening worker_process::next(clock::time_point deadline) {
  running& p = *process_;
  std::optional<clock::time_point> gone_since;
  std::unique_lock lock(p.mutex);
  for (;;) {
    if (!p.lines.empty()) {
      const std::string line = std::move(p.lines.front());
      p.lines.pop_front();
      nlohmann::json record = nlohmann::json::parse(line, nullptr, false);
      if (!record.is_discarded()) {
        return {event::record, std::move(record)};
      }
      continue;
    }
    if (p.at_end) {
      lock.unlock();
      end(200ms);
      return {event::ended, {}};
    }
    if (platform::interrupted()) {
      return {event::interrupted, {}};
    }
    const auto now = clock::now();
    if (now >= deadline) {
      return {event::timeout, {}};
    }
    if (!p.is_running()) {
      // A descendant may hold the pipe open; what the worker wrote is there within moments.
      gone_since = gone_since.value_or(now);
      if (now - *gone_since > 300ms) {
        lock.unlock();
        end(0ms);
        return {event::ended, {}};
      }
    }
    const printed sizes = output_so_far();
    if (sizes.out_bytes > at_command_.out_bytes + output_limit_bytes ||
        sizes.err_bytes > at_command_.err_bytes + output_limit_bytes) {
      return {event::flood, {}};
    }
    p.arrived.wait_until(lock, std::min(deadline, now + look_around_every));
  }
}

// The worker is past its last record and sure to die: nobody waits while the system takes down its
// GPU context, which takes a tenth of a second.
void worker_process::quit() {
  send({{"do", "quit"}});
  running& p = *process_;
  std::unique_lock lock(p.mutex);
  p.arrived.wait_for(lock, 1s, [&] { return p.at_end; });
  lock.unlock();
  ended_ = true;
  platform::end_now(static_cast<int>(p.child.id()));
  p.child.detach();
}

void worker_process::end(std::chrono::milliseconds grace) {
  running& p = *process_;
  if (ended_) {
    return;
  }
  ended_ = true;
  const int id = static_cast<int>(p.child.id());
  if (p.is_running()) {
    if (grace > 0ms) {
      platform::ask_to_end(id);
      const auto until = clock::now() + grace;
      while (p.is_running() && clock::now() < until) {
        std::this_thread::sleep_for(2ms);
      }
    }
    killed_ = p.is_running();
  }
  platform::end_now(id);  // descendants too, also when it is gone itself
  std::error_code error;
  p.child.wait(error);
}

platform::ending worker_process::ending() {
  return platform::describe_ending(process_->child.native_exit_code());
}

worker_process::printed worker_process::output_so_far() const {
  return {size_of(stdout_file()), size_of(stderr_file())};
}

std::string worker_process::stdout_between(const printed& from, const printed& to) const {
  return excerpt(stdout_file(), from.out_bytes, to.out_bytes);
}

std::string worker_process::stderr_between(const printed& from, const printed& to) const {
  return excerpt(stderr_file(), from.err_bytes, to.err_bytes);
}

std::string excerpt(const fs::path& file, std::uintmax_t begin, std::uintmax_t end) {
  std::ifstream in(file, std::ios::binary);
  const auto read = [&](std::uintmax_t at, std::uintmax_t size) {
    std::string text(static_cast<std::size_t>(size), '\0');
    in.clear();
    in.seekg(static_cast<std::streamoff>(at));
    in.read(text.data(), static_cast<std::streamsize>(size));
    text.resize(static_cast<std::size_t>(in.gcount()));
    return text;
  };
  if (end <= begin) {
    return "";
  }
  const std::uintmax_t size = end - begin;
  if (size <= excerpt_head_bytes + excerpt_tail_bytes) {
    return readable(read(begin, size));
  }
  const std::uintmax_t left_out = size - excerpt_head_bytes - excerpt_tail_bytes;
  return readable(read(begin, excerpt_head_bytes) + "\n[" + std::to_string(left_out) +
                  " bytes left out]\n" + read(end - excerpt_tail_bytes, excerpt_tail_bytes));
}

}  // namespace assay
