// SPDX-License-Identifier: Apache-2.0
//
// Result files of any size, like those of `assay run --profile measure`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace assay::benchmarks {

struct made_run {
  std::size_t checks = 55;
  std::size_t samples = 100;  // of each check, of wall and device time each
  std::uint32_t seed = 1;     // another run: other noise
  double slower = 1.0;        // of every tenth check
};

/// The text of the file.
std::string result_text(const made_run& run);

/// A store in which this many runs of 55 checks are kept, each with an environment of its own.
void fill_store(const std::filesystem::path& file, std::size_t runs);

}  // namespace assay::benchmarks
