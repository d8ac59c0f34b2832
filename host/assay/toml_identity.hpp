// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace assay {

/// Who a NAME.assay.toml says it is: the head that rule files and declared op packs share.
struct toml_identity {
  std::string id, version, vendor, accelerator;  // "" where it does not say
  bool has_checks = false;
};

/// Nothing for a file that is no TOML, or has no head with an id: its reader will say what is
/// wrong.
std::optional<toml_identity> read_toml_identity(const std::filesystem::path& file);

}  // namespace assay
