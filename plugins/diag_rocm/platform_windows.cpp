// SPDX-License-Identifier: Apache-2.0
#include <cctype>
#include <cstdlib>
#include <string_view>

#include "platform.hpp"

namespace diag_rocm::platform {

std::map<std::string, std::string> environment() {
  std::map<std::string, std::string> variables;
  for (char** at = _environ; at != nullptr && *at != nullptr; ++at) {
    const std::string_view entry = *at;
    const std::size_t equals = entry.find('=', 1);  // "=C:=C:\folder" has one in front
    if (equals != std::string_view::npos) {
      std::string name(entry.substr(0, equals));
      for (char& c : name) {  // names differ in nothing but case there
        c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
      }
      variables.emplace(std::move(name), entry.substr(equals + 1));
    }
  }
  return variables;
}

std::optional<owner> owner_of(const std::filesystem::path& /*file*/) { return std::nullopt; }

std::string try_to_open(const std::filesystem::path& /*device*/) { return "ENOENT"; }

}  // namespace diag_rocm::platform
