// SPDX-License-Identifier: Apache-2.0
#include "common/platform.hpp"

#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>

#include <system_error>

namespace probing {
namespace {

std::string narrow(const std::wstring& text) {
  const int length = static_cast<int>(text.size());
  const int size =
      ::WideCharToMultiByte(CP_UTF8, 0, text.data(), length, nullptr, 0, nullptr, nullptr);
  std::string made(static_cast<std::size_t>(size), '\0');
  ::WideCharToMultiByte(CP_UTF8, 0, text.data(), length, made.data(), size, nullptr, nullptr);
  return made;
}

std::string last_error() {
  return std::system_category().message(static_cast<int>(::GetLastError()));
}

}  // namespace

std::map<std::string, std::string> process_environment() {
  std::map<std::string, std::string> found;
  wchar_t* block = ::GetEnvironmentStringsW();
  for (const wchar_t* entry = block; entry != nullptr && *entry != L'\0';) {
    const std::wstring text(entry);
    // Those that begin with '=' are the command interpreter's own.
    const std::size_t equals = text.find(L'=', 1);
    if (equals != std::wstring::npos) {
      std::wstring name = text.substr(0, equals);
      // Names differ in nothing but case there; the rules spell them in capitals.
      ::CharUpperBuffW(name.data(), static_cast<DWORD>(name.size()));
      found.emplace(narrow(name), narrow(text.substr(equals + 1)));
    }
    entry += text.size() + 1;
  }
  if (block != nullptr) {
    ::FreeEnvironmentStringsW(block);
  }
  return found;
}

std::string why_not_usable(const std::filesystem::path& path, use as) {
  const DWORD rights =
      (as == use::write ? 0 : FILE_GENERIC_READ) | (as == use::read ? 0 : FILE_GENERIC_WRITE);
  const HANDLE opened =
      ::CreateFileW(path.c_str(), rights, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                    nullptr, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr);
  if (opened == INVALID_HANDLE_VALUE) {
    return last_error();
  }
  ::CloseHandle(opened);
  return "";
}

std::string why_not_openable(const std::filesystem::path& device) {
  return why_not_usable(device, use::read_write);
}

std::optional<std::string> kernel_log(const std::filesystem::path& /*device*/, std::size_t /*most*/,
                                      std::string& why) {
  why = "Windows has no kernel log in a file";
  return std::nullopt;
}

std::optional<std::uint64_t> address_space_limit() { return std::nullopt; }

std::string running_glibc() { return ""; }

library::library(const std::string& name) : handle_(::LoadLibraryA(name.c_str())) {
  if (handle_ == nullptr) {
    why_not_ = last_error();
  }
}

// Drivers do not survive being unmapped; the process ends with the probe.
library::~library() = default;

void* library::symbol(const char* name) const {
  return handle_ == nullptr
             ? nullptr
             : reinterpret_cast<void*>(::GetProcAddress(static_cast<HMODULE>(handle_), name));
}

}  // namespace probing
