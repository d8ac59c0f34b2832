// SPDX-License-Identifier: Apache-2.0
//
// From an option's text to its value. Whatever is wrong is a usage_error that begins with `origin`:
// where the text stood ("--timeout", "ASSAY_TIMEOUT", "/home/me/assay.ini: timeout").
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace assay {

bool parse_flag(const std::string& origin, const std::string& text);
std::string parse_device(const std::string& origin, const std::string& text);
std::string parse_profile(const std::string& origin, const std::string& text);
/// A name for a kept run.
std::string parse_run_name(const std::string& origin, const std::string& text);
std::string parse_baseline(const std::string& origin, const std::string& text);
std::string parse_sizes(const std::string& origin, const std::string& text);
std::string parse_platform(const std::string& origin, const std::string& text);
/// "gfx1032", "gfx90a:xnack-", "sm_90a".
std::string parse_architecture(const std::string& origin, const std::string& text);

/// A command with its arguments, as a shell would split it: blanks, quotes and backslashes count.
std::vector<std::string> parse_command(const std::string& origin, const std::string& text);

/// Answers the canonical name: "half" -> "float16".
std::string parse_dtype(const std::string& origin, const std::string& text);

/// Above 0 and at most a week.
double parse_seconds(const std::string& origin, const std::string& text);

std::uint64_t parse_whole_number(const std::string& origin, const std::string& text,
                                 std::uint64_t maximum);

/// Absolute, against `base`. The folder must exist.
std::filesystem::path parse_folder(const std::string& origin, const std::string& text,
                                   const std::filesystem::path& base);

/// Absolute, against `base`. The file must exist.
std::filesystem::path parse_input_file(const std::string& origin, const std::string& text,
                                       const std::filesystem::path& base);

/// Absolute, against `base`. A folder that exists, or whose own folder does.
std::filesystem::path parse_output_folder(const std::string& origin, const std::string& text,
                                          const std::filesystem::path& base);

/// Absolute, against `base`. A file that can be written as far as looking can tell.
std::filesystem::path parse_output_file(const std::string& origin, const std::string& text,
                                        const std::filesystem::path& base);

}  // namespace assay
