// SPDX-License-Identifier: Apache-2.0
//
// What a plugin file says of itself, read without opening the file as a library.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace assay {

struct plugin_stamp {
  std::string id, version, vendor, accelerator;
  unsigned abi_major = 0, abi_minor = 0;
  std::uint32_t brings = 0;  // ASSAY_BRINGS_*; 0: it does not say

  /// It says that it brings probes or classifiers and no checks.
  [[nodiscard]] bool only_diagnostics() const;
  [[nodiscard]] std::string abi() const;
  friend bool operator==(const plugin_stamp&, const plugin_stamp&) = default;
};

struct stamp_reading {
  std::optional<plugin_stamp> stamp;
  std::string fault;     // why there is none; "" when there is one
  bool claimed = false;  // there is something that begins like one
};

/// Looks for the magic with a plausible assay_stamp behind it: the same on every system, in
/// stripped files and in whatever a section is called there. A file with two different stamps has
/// none: it could be taken for what it is not.
stamp_reading read_stamp(const std::filesystem::path& file);

/// The same in a file's bytes.
stamp_reading find_stamp(std::string_view bytes);

}  // namespace assay
