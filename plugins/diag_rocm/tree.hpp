// SPDX-License-Identifier: Apache-2.0
//
// Reading files and folders that may not be there, may not be readable, or may be damaged.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace diag_rocm::tree {

/// What a folder holds, sorted by name; empty where it cannot be read.
std::vector<std::filesystem::path> entries(const std::filesystem::path& folder);

/// Those of entries() whose name begins and ends so.
std::vector<std::filesystem::path> entries(const std::filesystem::path& folder,
                                           std::string_view prefix, std::string_view suffix = {});

bool is_folder(const std::filesystem::path& path);
bool is_file(const std::filesystem::path& path);

/// `path` without the root it was read below: how people know it.
std::filesystem::path shown(const std::filesystem::path& path, const std::filesystem::path& root);

/// Whether `left` comes before `right` when the numbers in both count as numbers: "9" < "12".
bool natural_less(std::string_view left, std::string_view right);

std::vector<std::string> split(std::string_view text, char separator);  // without empty parts
std::vector<std::string> lines(std::string_view text);                  // likewise

}  // namespace diag_rocm::tree
