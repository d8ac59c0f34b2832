// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "host/results/saved_run.hpp"

namespace assay {

/// A result file's records as they were written, and what is missing of it.
struct read_records {
  std::vector<nlohmann::json> records;  // with a `summary` in any case
  std::vector<std::string> remarks;
};

/// Reads a result file whole. Where it has no summary, one is made of what there is. Throws
/// results_error for what is no result file, and where a record lacks what every assay writes.
read_records read_result_file(const std::filesystem::path& file, const reading_limits& limits = {});
/// Of the text of a result file, which `name` stands for.
read_records read_result_file(std::istream& text, const std::filesystem::path& name,
                              const reading_limits& limits = {});

/// A record lacks what every assay writes.
results_error changed_by_hand(const std::filesystem::path& file);

}  // namespace assay
