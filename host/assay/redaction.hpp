// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// Takes out of a text what says who or where its writer is, for what is shown to strangers: home
/// folders become ~, also those of others (/home/NAME, /Users/NAME, C:\Users\NAME, /root); the
/// names that are given, as whole words, become <user> or <host>; serial numbers, GPU ids and
/// network addresses become <serial>.
class redaction {
 public:
  /// Of this process: its user's and its machine's names, as far as they can be asked.
  static redaction of_this_machine();

  redaction(std::vector<std::string> users, std::vector<std::string> hosts,
            std::vector<std::string> homes = {}, std::vector<std::string> serials = {});

  [[nodiscard]] std::string of(std::string_view text) const;

  /// A record of a result file with each text so treated. Identifiers (of checks, plugins,
  /// operators, diagnoses) stay as they are, or the file could not be read again.
  [[nodiscard]] nlohmann::json of_record(const nlohmann::json& record) const;

 private:
  std::vector<std::string> users_, hosts_, homes_, serials_;
};

}  // namespace assay
