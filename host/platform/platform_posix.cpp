// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <fcntl.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif
#include <pwd.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <memory>
#if defined(__linux__)
#include <sys/prctl.h>
#endif

#include <boost/dll/runtime_symbol_info.hpp>

#include "host/platform/platform.hpp"

extern char** environ;

namespace assay::platform {

namespace {

volatile std::sig_atomic_t interrupt_seen = 0;

void note_interrupt(int /*signal*/) { interrupt_seen = 1; }

int private_copy(int descriptor) {
  constexpr int lowest = 10;  // away from those that careless code closes or reuses
  return ::fcntl(descriptor, F_DUPFD_CLOEXEC, lowest);
}

void replace(int descriptor, const char* path, int flags) {
  const int file = ::open(path, flags | O_CLOEXEC, 0600);
  if (file >= 0) {
    ::dup2(file, descriptor);
    ::close(file);
  }
}

// What counts as this user's own: root's, too, and that of whoever installed this program.
bool trusted_owner(uid_t owner) {
  struct stat program {};
  return owner == 0 || owner == ::geteuid() ||
         (::stat(boost::dll::program_location().string().c_str(), &program) == 0 &&
          owner == program.st_uid);
}

std::optional<std::string> others_may_write_one(const std::string& path, const std::string& what) {
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0) {
    return std::nullopt;  // opening it will say why
  }
  if (!trusted_owner(facts.st_uid)) {
    return what + " belongs to user " + std::to_string(facts.st_uid);
  }
  if (S_ISLNK(facts.st_mode)) {
    return std::nullopt;  // its permissions mean nothing
  }
  // In a folder such as /tmp only its owner can take an entry away.
  const bool sticky = S_ISDIR(facts.st_mode) && (facts.st_mode & S_ISVTX) != 0;
  if ((facts.st_mode & S_IWOTH) != 0 && !sticky) {
    return what + " may be written by everybody";
  }
  if ((facts.st_mode & S_IWGRP) != 0 && !sticky && facts.st_gid != 0 &&
      facts.st_gid != ::getegid()) {
    return what + " may be written by group " + std::to_string(facts.st_gid);
  }
  return std::nullopt;
}

}  // namespace

bool is_terminal(int descriptor) { return ::isatty(descriptor) == 1; }

bool is_wsl() {
  std::ifstream version("/proc/version");
  std::string line;
  std::getline(version, line);
  return line.find("icrosoft") != std::string::npos;
}

account this_account() {
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 16384> texts{};
  if (::getpwuid_r(::geteuid(), &entry, texts.data(), texts.size(), &found) != 0 ||
      found == nullptr) {
    return {};
  }
  return {entry.pw_name, entry.pw_dir};
}

int terminal_width(int descriptor) {
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return size.ws_col;
  }
  return 80;
}

std::map<std::string, std::string> environment_variables() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const char* equals = std::strchr(*entry, '=');
    if (equals != nullptr) {
      variables.emplace(std::string(static_cast<const char*>(*entry), equals), equals + 1);
    }
  }
  return variables;
}

namespace {

// By the XDG base directory specification: a variable that is no absolute path counts as none.
std::filesystem::path user_dir(const char* variable, const char* below_home) {
  const char* dir = std::getenv(variable);
  if (dir != nullptr && *dir == '/') {
    return dir;
  }
  const char* home = std::getenv("HOME");
  return home != nullptr && *home != '\0' ? std::filesystem::path(home) / below_home
                                          : std::filesystem::path();
}

}  // namespace

std::filesystem::path user_config_dir() { return user_dir("XDG_CONFIG_HOME", ".config"); }

std::filesystem::path user_cache_dir() { return user_dir("XDG_CACHE_HOME", ".cache"); }

std::filesystem::path user_data_dir() { return user_dir("XDG_DATA_HOME", ".local/share"); }

// As the system walks it: whoever may change any folder or link on the way can put another file in
// the place of this one.
std::optional<std::string> others_may_write(const std::filesystem::path& file) {
  namespace fs = std::filesystem;
  constexpr int most_links = 40;  // as many as Linux follows
  std::error_code error;
  const fs::path whole = fs::absolute(file, error);
  std::deque<fs::path> left(whole.begin(), whole.end());
  fs::path at;
  for (int links = 0; !left.empty() && links <= most_links;) {
    const fs::path part = left.front();
    left.pop_front();
    if (part.empty() || part == ".") {
      continue;
    }
    if (part == "..") {
      at = at.parent_path();
      continue;
    }
    at /= part;
    const fs::file_status status = fs::symlink_status(at, error);
    const bool is_link = fs::is_symlink(status);
    const std::string what = left.empty() && !is_link ? "the file"
                             : is_link                ? "the link " + at.string()
                                                      : "its folder " + at.string();
    if (auto found = others_may_write_one(at.string(), what)) {
      return found;
    }
    if (is_link) {
      ++links;
      const fs::path target = fs::read_symlink(at, error);
      at = target.is_absolute() ? fs::path() : at.parent_path();
      left.insert(left.begin(), target.begin(), target.end());
    }
  }
  return std::nullopt;
}

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = note_interrupt;
  ::sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    ::sigaction(signal, &action, nullptr);
  }
  // A report into a closed pipe, or beyond the limit of a file's size, is a write error, not a
  // reason to die.
  action.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &action, nullptr);
  ::sigaction(SIGXFSZ, &action, nullptr);
}

bool interrupted() { return interrupt_seen != 0; }

void ask_to_end(int process) { ::kill(-process, SIGTERM); }

void end_now(int process) { ::kill(-process, SIGKILL); }

ending describe_ending(int native_exit_code) {
  ending e;
  if (WIFSIGNALED(native_exit_code)) {
    e.signal = WTERMSIG(native_exit_code);
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 32)
    const char* name = ::sigabbrev_np(*e.signal);
    e.signal_name = name != nullptr ? std::string("SIG") + name : "signal";
#else
    const char* name = ::strsignal(*e.signal);
    e.signal_name = name != nullptr ? name : "signal";
#endif
  } else if (WIFEXITED(native_exit_code)) {
    e.exit_code = WEXITSTATUS(native_exit_code);
  }
  return e;
}

channels take_over_channels() {
  const int commands = private_copy(STDIN_FILENO);
  const int records = private_copy(STDOUT_FILENO);
  replace(STDIN_FILENO, "/dev/null", O_RDONLY);
  replace(STDOUT_FILENO, "/dev/null", O_WRONLY);
  return {commands, records};
}

void send_stdout_to(const std::filesystem::path& stdout_file) {
  replace(STDOUT_FILENO, stdout_file.c_str(), O_WRONLY | O_CREAT | O_APPEND);
  ::setvbuf(stdout, nullptr, _IOLBF, 0);
}

std::size_t read_some(int descriptor, char* data, std::size_t size) {
  ssize_t count = 0;
  do {
    count = ::read(descriptor, data, size);
  } while (count < 0 && errno == EINTR);
  return count > 0 ? static_cast<std::size_t>(count) : 0;
}

bool write_all(int descriptor, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t written = ::write(descriptor, data, size);
    if (written < 0) {
      if (errno == EINTR) {
        continue;
      }
      return false;
    }
    data += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

void close_descriptor(int descriptor) { ::close(descriptor); }

void die_with_parent() {
#if defined(__linux__)
  const pid_t parent = ::getppid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) {
    end_this_group();
  }
#endif
}

void end_this_group() {
  if (::getpgrp() == ::getpid()) {
    ::kill(0, SIGKILL);
  }
  ::_exit(1);
}

void end_this_process(int exit_code) { ::_exit(exit_code); }

void keep_freed_memory() {
#if defined(__GLIBC__)
  constexpr int largest_mmap_threshold = 32 << 20;  // glibc accepts no more
  constexpr int trim_threshold = 1 << 30;
  ::mallopt(M_MMAP_THRESHOLD, largest_mmap_threshold);
  ::mallopt(M_TRIM_THRESHOLD, trim_threshold);
#endif
}

void crash_quietly() {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
}

std::optional<int> thread_count() {
#if defined(__linux__)
  const std::unique_ptr<DIR, int (*)(DIR*)> tasks(::opendir("/proc/self/task"), ::closedir);
  if (tasks) {
    int count = 0;
    while (const dirent* entry = ::readdir(tasks.get())) {
      count += entry->d_name[0] != '.' ? 1 : 0;
    }
    return count;
  }
#endif
  return std::nullopt;
}

}  // namespace assay::platform
