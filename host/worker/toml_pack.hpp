// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <assay/registry.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::worker {

/// An op pack that is written as a file NAME.assay.toml; docs/writing-a-toml-pack.md is its
/// reference.
struct toml_pack {
  std::string id, version, vendor, accelerator;
  std::vector<std::string> libraries;
  std::vector<requirements> needs;                              // all of them must hold
  std::vector<std::pair<std::string, std::string>> categories;  // name, summary
  std::vector<std::pair<std::string, check>> checks;            // by category

  void fill(registry& plugin) const;
};

/// Reads the file of this name, whose text this is. Nothing where it holds no [[check]] and no
/// [[category]]: it is then no op pack. Throws refused, whose text names the file, the line and
/// what is wrong.
std::optional<toml_pack> read_toml_pack(const std::string& file_name, std::string_view text);

}  // namespace assay::worker
