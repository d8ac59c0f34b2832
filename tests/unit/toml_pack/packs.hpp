// SPDX-License-Identifier: Apache-2.0
//
// What the tests of TOML packs share: texts of packs, and what became of them.
#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "host/worker/plugin_loader.hpp"
#include "host/worker/registrar.hpp"
#include "host/worker/toml_pack.hpp"

namespace assay::testing {

inline const std::string head = R"([pack]
format = 1
id = "acme"
version = "1.0"
vendor = "Acme"
[[category]]
name = "acme"
summary = "operators of our model"
)";

/// Line 9 is its header, line 10 its name; `keys` begin in line 11.
inline std::string one_check(const std::string& keys) {
  return head + "[[check]]\nname = \"acme/one\"\n" + keys + "\n";
}

inline const std::string one_input = "inputs = [{ shape = [4, 3] }]\n";

/// What the worker would say of each check of a plugin.
inline std::vector<nlohmann::json> described(registry& plugin) {
  worker::registrations target;
  worker::registrar host(target);
  plugin.commit(host.c_form());
  std::vector<nlohmann::json> checks;
  for (const worker::owned_check& check : target.checks) {
    checks.push_back(check.describe());
    checks.back()["check"] = check.id();
    checks.back()["category"] = check.category();
    checks.back()["name"] = check.c_form().name;
    checks.back()["plugin"] = "acme";
  }
  return checks;
}

inline std::vector<nlohmann::json> read_checks(const std::string& text) {
  const auto pack = worker::read_toml_pack("acme.assay.toml", text);
  if (!pack) {
    return {};
  }
  registry plugin;
  pack->fill(plugin);
  return described(plugin);
}

/// The one check with these keys.
inline nlohmann::json read_check(const std::string& keys) {
  return read_checks(one_check(keys)).at(0);
}

/// Why the text is refused; "" when it is not.
inline std::string refusal(const std::string& text) {
  try {
    worker::read_toml_pack("acme.assay.toml", text);
    return "";
  } catch (const worker::refused& e) {
    return e.what();
  }
}

}  // namespace assay::testing
