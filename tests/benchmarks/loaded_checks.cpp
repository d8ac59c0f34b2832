// SPDX-License-Identifier: Apache-2.0
#include "loaded_checks.hpp"

#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "host/worker/plugin_loader.hpp"

namespace assay::benchmarks {

std::vector<loaded_check> load_checks(const std::filesystem::path& plugin_dir) {
  std::vector<loaded_check> checks;
  std::string refusals;
  // Leaked: plugins are never unloaded.
  auto* plugins = std::make_unique<worker::plugin_registry>([&](const nlohmann::json& record) {
                    if (record.at("record") == "check") {
                      checks.push_back({record.at("check"), nullptr});
                    } else if (record.at("record") == "plugin" && record.at("status") != "loaded") {
                      refusals += "\n" + record.at("file").get<std::string>() + ": " +
                                  record.at("reason").get<std::string>();
                    }
                  }).release();
  plugins->load_all({plugin_dir}, {}, true);
  if (!refusals.empty() || checks.empty()) {
    throw std::runtime_error("no checks from " + plugin_dir.string() + refusals);
  }
  for (loaded_check& loaded : checks) {
    loaded.check = &plugins->find(loaded.id).first->c_form();
  }
  return checks;
}

}  // namespace assay::benchmarks
