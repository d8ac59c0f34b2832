// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer's entry: any bytes as a result file.
#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/fuzz/read_result_text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  assay::testing::reads_as_result_file(text);
  return 0;
}
