// SPDX-License-Identifier: Apache-2.0
#include "toml_identity.hpp"

#include <exception>
#include <fstream>

#include "host/common/toml.hpp"

namespace assay {

std::optional<toml_identity> read_toml_identity(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::error_code error;
  if (!in || !std::filesystem::is_regular_file(file, error)) {
    return std::nullopt;
  }
  try {
    const toml::table root = toml::parse(in);
    const auto head = root["pack"];
    toml_identity who{head["id"].value_or(""), head["version"].value_or(""),
                      head["vendor"].value_or(""), head["accelerator"].value_or("any"),
                      root.contains("check") || root.contains("category")};
    return who.id.empty() ? std::nullopt : std::optional(std::move(who));
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace assay
