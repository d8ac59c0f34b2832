// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace assay {

/// In zlib's format. Result files repeat their members' names, and shrink to about a tenth.
std::string packed(std::string_view text);

/// Nothing where `bytes` is damaged, or does not unpack to exactly `size` bytes.
std::optional<std::string> unpacked(std::string_view bytes, std::size_t size);

}  // namespace assay
