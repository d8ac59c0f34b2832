// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace assay {

/// The text with what tells one machine from all others of its kind as <serial>: network addresses
/// (52:54:00:12:34:56), UUIDs, those of GPUs (GPU-8f6e...), and what stands behind the word serial
/// ("Serial Number: 1650522003820").
std::string without_serials(std::string_view text);

}  // namespace assay
