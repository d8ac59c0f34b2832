// SPDX-License-Identifier: Apache-2.0
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>
// after windows.h
#include <fcntl.h>
#include <io.h>
#include <sys/stat.h>
#include <tlhelp32.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "host/platform/platform.hpp"

namespace assay::platform {

namespace {

std::atomic<bool> interrupt_seen{false};

BOOL WINAPI note_interrupt(DWORD /*event*/) {
  interrupt_seen = true;
  return TRUE;
}

HANDLE handle_of(int descriptor) {
  return ::GetStdHandle(descriptor == 1 ? STD_OUTPUT_HANDLE : STD_ERROR_HANDLE);
}

int private_copy(int descriptor) {
  const int copy = ::_dup(descriptor);
  if (copy >= 0) {
    ::SetHandleInformation(reinterpret_cast<HANDLE>(::_get_osfhandle(copy)), HANDLE_FLAG_INHERIT,
                           0);
  }
  return copy;
}

void replace(int descriptor, const wchar_t* path, int flags) {
  const int file = ::_wopen(path, flags | _O_BINARY, _S_IREAD | _S_IWRITE);
  if (file >= 0) {
    ::_dup2(file, descriptor);
    ::_close(file);
  }
}

}  // namespace

bool is_terminal(int descriptor) {
  DWORD mode = 0;
  return ::GetConsoleMode(handle_of(descriptor), &mode) != 0;
}

bool is_wsl() { return false; }

account this_account() {
  constexpr DWORD longest = 257;  // UNLEN and a zero
  std::string name(longest, '\0');
  DWORD size = longest;
  if (::GetUserNameA(name.data(), &size) == 0 || size == 0) {
    return {};
  }
  name.resize(size - 1);
  return {name, ""};  // USERPROFILE has the folder
}

int terminal_width(int descriptor) {
  CONSOLE_SCREEN_BUFFER_INFO info{};
  if (::GetConsoleScreenBufferInfo(handle_of(descriptor), &info) != 0) {
    return info.srWindow.Right - info.srWindow.Left + 1;
  }
  return 80;
}

std::map<std::string, std::string> environment_variables() {
  std::map<std::string, std::string> variables;
  for (char** entry = _environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const auto equals = text.find('=', 1);
    if (equals != std::string::npos) {
      variables.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  return variables;
}

std::filesystem::path user_config_dir() {
  const wchar_t* data = ::_wgetenv(L"APPDATA");
  return data == nullptr ? std::filesystem::path() : std::filesystem::path(data);
}

std::filesystem::path user_cache_dir() {
  const wchar_t* data = ::_wgetenv(L"LOCALAPPDATA");
  return data == nullptr ? std::filesystem::path() : std::filesystem::path(data);
}

std::filesystem::path user_data_dir() { return user_cache_dir(); }

std::optional<std::string> others_may_write(const std::filesystem::path& /*file*/) {
  // Access lists are not examined yet: Windows installs programs below folders that only
  // administrators may write.
  return std::nullopt;
}

void catch_interrupts() { ::SetConsoleCtrlHandler(note_interrupt, TRUE); }

bool interrupted() { return interrupt_seen; }

void ask_to_end(int /*process*/) {}

void end_now(int process) {
  // Boost.Process keeps worker and descendants in a job object, which its group ends; this is for
  // the worker itself.
  const HANDLE handle = ::OpenProcess(PROCESS_TERMINATE, FALSE, static_cast<DWORD>(process));
  if (handle != nullptr) {
    ::TerminateProcess(handle, 1);
    ::CloseHandle(handle);
  }
}

ending describe_ending(int native_exit_code) {
  ending e;
  const auto code = static_cast<std::uint32_t>(native_exit_code);
  if ((code & 0xC0000000U) == 0xC0000000U) {
    e.signal = native_exit_code;
    switch (code) {
      case 0xC0000005U:
        e.signal_name = "EXCEPTION_ACCESS_VIOLATION";
        break;
      case 0xC00000FDU:
        e.signal_name = "EXCEPTION_STACK_OVERFLOW";
        break;
      case 0xC0000409U:
        e.signal_name = "STATUS_STACK_BUFFER_OVERRUN";
        break;
      case 0xC0000135U:
        e.signal_name = "STATUS_DLL_NOT_FOUND";
        break;
      default:
        e.signal_name = "exception";
        break;
    }
  } else {
    e.exit_code = native_exit_code;
  }
  return e;
}

channels take_over_channels() {
  const int commands = private_copy(0);
  const int records = private_copy(1);
  replace(0, L"NUL", _O_RDONLY);
  replace(1, L"NUL", _O_WRONLY);
  ::_setmode(records, _O_BINARY);
  ::_setmode(commands, _O_BINARY);
  return {commands, records};
}

void send_stdout_to(const std::filesystem::path& stdout_file) {
  replace(1, stdout_file.c_str(), _O_WRONLY | _O_CREAT | _O_APPEND);
  std::setvbuf(stdout, nullptr, _IONBF, 0);
}

std::size_t read_some(int descriptor, char* data, std::size_t size) {
  const int count = ::_read(descriptor, data, static_cast<unsigned>(size));
  return count > 0 ? static_cast<std::size_t>(count) : 0;
}

bool write_all(int descriptor, const char* data, std::size_t size) {
  while (size > 0) {
    const int written = ::_write(descriptor, data, static_cast<unsigned>(size));
    if (written <= 0) {
      return false;
    }
    data += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

void close_descriptor(int descriptor) { ::_close(descriptor); }

void die_with_parent() {}  // the job object and the end of the command channel do it

void end_this_group() {
  ::TerminateProcess(::GetCurrentProcess(), 1);
  std::abort();
}

void end_this_process(int exit_code) {
  ::TerminateProcess(::GetCurrentProcess(), static_cast<UINT>(exit_code));
  std::abort();
}

void keep_freed_memory() {}

void crash_quietly() {
  ::SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX);
}

std::optional<int> thread_count() {
  const HANDLE snapshot = ::CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0);
  if (snapshot == INVALID_HANDLE_VALUE) {
    return std::nullopt;
  }
  int count = 0;
  THREADENTRY32 entry{};
  entry.dwSize = sizeof entry;
  for (BOOL more = ::Thread32First(snapshot, &entry); more != 0;
       more = ::Thread32Next(snapshot, &entry)) {
    count += entry.th32OwnerProcessID == ::GetCurrentProcessId() ? 1 : 0;
  }
  ::CloseHandle(snapshot);
  return count;
}

}  // namespace assay::platform
