// SPDX-License-Identifier: Apache-2.0
//
// Small readings of files and texts that all probes share.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/probing.hpp"

namespace diag_rocm {

/// Whether a file could be read. sysfs and procfs refuse at the read as well as at the opening.
enum class reading { ok, absent, refused };

struct file_text {
  reading state = reading::absent;
  std::string text{};
};

/// At most the first MiB: what the kernel and package managers write here is shorter.
[[nodiscard]] file_text read_file(const std::filesystem::path& file);

/// The first line of a file without blanks around it; empty where there is none.
[[nodiscard]] std::string read_line(const std::filesystem::path& file);

/// The names in a folder, sorted; numbers by their value. Empty where it cannot be listed.
[[nodiscard]] std::vector<std::string> names_in(const std::filesystem::path& folder);

using probing::is_there;
using probing::joined;
using probing::lines_of;
using probing::trimmed;

/// Parts between separators, trimmed; an empty text has none.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);
/// Words between blanks.
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view text);
[[nodiscard]] std::string lower(std::string_view text);
[[nodiscard]] bool contains_word(std::string_view text, std::string_view word);

/// The whole text as a number: decimal, or hexadecimal after "0x".
[[nodiscard]] std::optional<std::uint64_t> number(std::string_view text);
[[nodiscard]] std::string hex(std::uint64_t value, int digits = 1);
/// "8.0 GiB", "512 MiB".
[[nodiscard]] std::string size_text(std::uint64_t bytes);
/// "1 GPU", "8 GPUs".
[[nodiscard]] std::string counted(std::size_t count, std::string_view thing);

}  // namespace diag_rocm
