// SPDX-License-Identifier: Apache-2.0
//
// Small things that every probe needs.
#pragma once

#include <assay/diagnostics.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace probing {

using variables = std::map<std::string, std::string>;

/// The first `most` bytes; none: it cannot be read.
std::optional<std::string> read_text(const std::filesystem::path& path,
                                     std::size_t most = std::size_t{1} << 20);
/// The last `most` bytes, from the beginning of a line on.
std::optional<std::string> read_end(const std::filesystem::path& path, std::size_t most);
/// exists(), taking "may not look" for no.
bool is_there(const std::filesystem::path& path);
/// Names in a folder, sorted; empty where it cannot be listed.
std::vector<std::string> names_in(const std::filesystem::path& folder);
/// What a link points to; empty: it is none.
std::filesystem::path link_target(const std::filesystem::path& link);

std::string_view trimmed(std::string_view text);
std::vector<std::string_view> lines_of(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char separator);
std::string joined(const std::vector<std::string>& parts, std::string_view separator);
std::optional<std::uint64_t> whole_number(std::string_view text, int base = 10);
/// "2.0 GiB", "512 MiB".
std::string size_text(double bytes);

/// A dotted version; a missing part counts as 0.
std::vector<int> version_of(std::string_view text);
bool older(std::string_view one, std::string_view other);
/// Those versions of "GLIBC_2.34", "GLIBC_ABI_x", ... that have the prefix and are numbers; newest.
std::string newest_with_prefix(const std::vector<std::string>& versions, std::string_view prefix);

/// This process's variables; below another root those in the file ROOT/environment (NAME=value
/// lines), since what this process was started with says nothing about another machine.
variables variables_of(const assay::probe_site& site);
std::string value_of(const variables& from, const std::string& name);

bool is_wsl(const assay::probe_site& site);

assay::probe_answer yes(std::string fact);
assay::probe_answer no(std::string fact, std::string finding = {});
assay::probe_answer unknown(std::string reason);

/// The reason, where what is asked for exists on Linux alone.
inline constexpr const char* only_linux = "this exists on Linux alone";
/// Files of a tree that is not this machine say nothing about what this process may do.
inline constexpr const char* only_this_machine =
    "only this machine itself can be asked, not another root";

}  // namespace probing
