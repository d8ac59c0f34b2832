// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// Takes out of a text what says who or where its writer is, for what is shown to strangers: home
/// folders become ~, also those of others (/home/NAME, /Users/NAME, C:\Users\NAME, /root); the
/// names that are given, as whole words, become <user> or <host>.
class redaction {
 public:
  /// Of this process: its user's and its machine's names, as far as they can be asked.
  static redaction of_this_machine();

  redaction(std::vector<std::string> users, std::vector<std::string> hosts,
            std::vector<std::string> homes = {});

  [[nodiscard]] std::string of(std::string_view text) const;

 private:
  std::vector<std::string> users_, hosts_, homes_;
};

}  // namespace assay
