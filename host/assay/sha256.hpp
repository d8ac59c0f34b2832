// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace assay {

/// The SHA-256 of a file's bytes, 64 hexadecimal digits; "" when it cannot be read to its end.
std::string sha256_of(const std::filesystem::path& file);

}  // namespace assay
