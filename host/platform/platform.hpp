// SPDX-License-Identifier: Apache-2.0
//
// Everything that assay asks the operating system for and the standard library and Boost do not
// offer alike. One implementation file a system; nothing else includes a system header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace assay::platform {

// ---- terminal and environment

[[nodiscard]] bool is_terminal(int descriptor);    // 1: standard output, 2: standard error
[[nodiscard]] int terminal_width(int descriptor);  // columns; 80 where it cannot be asked
[[nodiscard]] std::map<std::string, std::string> environment_variables();
[[nodiscard]] std::filesystem::path user_config_dir();  // may be empty
[[nodiscard]] std::filesystem::path user_cache_dir();   // may be empty
[[nodiscard]] std::filesystem::path user_data_dir();    // may be empty

/// Who runs this process, as the system's list of users has it; "" where it has none.
struct account {
  std::string name, home;
};
[[nodiscard]] account this_account();

/// Linux below Windows.
[[nodiscard]] bool is_wsl();

// ---- trust

/// Who but this user (or root, or the owner of this program) may write the file, or a folder or
/// link on the way to it, and so put another in its place; one phrase for a message, or nothing
/// when nobody may.
[[nodiscard]] std::optional<std::string> others_may_write(const std::filesystem::path& file);

// ---- the supervisor's side

/// From now on an interrupt (Ctrl-C, SIGTERM, SIGHUP, a console's close) sets a flag instead of
/// ending the process.
void catch_interrupts();
[[nodiscard]] bool interrupted();

/// Asks a process and its descendants to end (POSIX: TERM to its group; Windows: nothing, since
/// there is no polite way to ask).
void ask_to_end(int process);
/// Ends a process and its descendants (POSIX: KILL to its group).
void end_now(int process);

/// How a process ended, from the native exit code that Boost.Process gives.
struct ending {
  std::optional<int> signal;  // number; Windows: the exception code of a crash
  std::string signal_name;    // "SIGSEGV", "EXCEPTION_ACCESS_VIOLATION"
  std::optional<int> exit_code;
};
[[nodiscard]] ending describe_ending(int native_exit_code);

// ---- the worker's side

/// Moves the channels that the supervisor gave as standard input and output to private
/// descriptors, which no child inherits, and puts the null device and `stdout_file` in their
/// places. Called in two steps, since the file's name arrives on the command channel.
struct channels {
  int commands;
  int records;
};
[[nodiscard]] channels take_over_channels();
void send_stdout_to(const std::filesystem::path& stdout_file);

/// Reads up to `size` bytes, waiting for the first; 0 when the other side is gone. No stdio: a
/// stream waiting for input would hold its lock, on which any fflush(NULL) in this process waits.
std::size_t read_some(int descriptor, char* data, std::size_t size);

/// Writes all of it, or returns false when the other side is gone.
bool write_all(int descriptor, const char* data, std::size_t size);

void close_descriptor(int descriptor);

/// Ends this process, and those it started, when the supervisor dies.
void die_with_parent();
/// Ends this process and its descendants at once, without any cleaning up.
[[noreturn]] void end_this_group();
/// Ends this process at once, without running destructors of libraries that may hang or crash.
[[noreturn]] void end_this_process(int exit_code);

/// Lets the C library keep the memory that is freed, as it does by itself in a process that has
/// freed a few large blocks. In a fresh one each large result would be given back to the system and
/// fetched again, page by page, in every call.
void keep_freed_memory();

/// A crash ends the process at once: no core dump, no dialogue.
void crash_quietly();

/// Threads of this process now; nothing where they cannot be counted.
[[nodiscard]] std::optional<int> thread_count();

}  // namespace assay::platform
