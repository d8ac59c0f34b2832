// SPDX-License-Identifier: Apache-2.0
//
// From a log's calls to checks of the category `trace`.
#pragma once

#include <assay/plugin.hpp>

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace_log.hpp"

namespace assay::worker {

/// The checks of one log. Entries of the same operator with the same arguments are one check, whose
/// weight is the sum of their counts.
class trace_checks {
 public:
  /// `name`: the log's, for "name:line". `numbers` goes on from log to log, so that no two checks
  /// of a run have one name: how many checks each operator has so far.
  trace_checks(std::string name, std::map<std::string, std::size_t>& numbers)
      : name_(std::move(name)), numbers_(numbers) {}

  /// Reads a whole log. Throws trace_error.
  void read(std::string_view text);

  /// Registers the checks. Throws registration_error where there is none.
  void fill(registry& into);

  /// {`entries`, `calls`, `checks`: [{`check`,`op`,`calls`,`guessed`}], `skipped`:
  /// [{`line`,`op`,`calls`,`reason`}]}, once fill() is done.
  [[nodiscard]] const nlohmann::json& describe() const { return described_; }

 private:
  struct merged {
    log_entry entry;
    std::uint64_t count = 0;
  };

  void take(log_entry entry);

  std::string name_;
  std::map<std::string, std::size_t>& numbers_;
  std::vector<merged> entries_;
  std::unordered_map<std::string, std::size_t> places_;  // operator and arguments -> of entries_
  std::uint64_t lines_ = 0;
  nlohmann::json described_;
};

}  // namespace assay::worker
