// SPDX-License-Identifier: Apache-2.0
//
// What the parsers of library_log.hpp share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "library_log.hpp"

namespace assay::log_lines {

/// Without line ends; a carriage return before one is none of the text either.
std::vector<std::string_view> lines_of(std::string_view text);

std::vector<std::string_view> split(std::string_view text, char at);

/// Between blanks; empty words are left out.
std::vector<std::string_view> words_of(std::string_view text);

std::string_view trimmed(std::string_view text);

/// Behind `before`, up to `until`; "" where there is no `before`. No `until`: up to the end.
std::string_view between(std::string_view text, std::string_view before, std::string_view until);

bool is_number(std::string_view text);

/// Adds a call, or its lines to the one that is the same but for the numbers in its note.
void add(library_calls& calls, library_call call);

/// "R_16F", "f16_r", "CUDA_R_16F", "CUDNN_DATA_HALF", "f16" -> "float16"; what is not known stays.
std::string dtype_name(std::string_view name);

/// A trace line of hipBLASLt or cuBLASLt, which have one form; false: it is none.
bool read_lt_trace(std::string_view line, library_call& call);

}  // namespace assay::log_lines
