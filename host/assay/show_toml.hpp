// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace assay {

/// Checks as one TOML pack, a whole file (docs/writing-a-toml-pack.md): read back it gives the
/// same checks. `checks` are `check` records of docs/architecture.md, `plugins` its `plugin`
/// records. Throws usage_error when the plugins of the checks require different things.
std::string show_toml(const std::vector<const nlohmann::json*>& checks,
                      const std::vector<nlohmann::json>& plugins);

}  // namespace assay
