// SPDX-License-Identifier: Apache-2.0
//
// Codes are for ever: people search for them, and programs compare them.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

#include "explained.hpp"

namespace {

using namespace assay::testing;

TEST(codes, once_shipped_they_stay_and_new_ones_are_listed) {
  const std::string file = std::string(ASSAY_DIAGNOSIS_TEST_DIR) + "/codes.txt";
  std::ifstream in(file);
  ASSERT_TRUE(in) << file;
  std::set<std::string> listed;
  std::string last;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.starts_with('#')) {
      continue;
    }
    EXPECT_TRUE(listed.insert(line).second) << line << " stands there twice";
    EXPECT_LT(last, line) << "the list is in alphabetical order";
    last = line;
  }
  const auto& entries = shipped_rules().known.entries;
  for (const std::string& code : listed) {
    EXPECT_TRUE(entries.contains(code))
        << code << " was shipped and is gone: give it back, codes are never taken away or renamed";
  }
  for (const auto& [code, entry] : entries) {
    EXPECT_TRUE(listed.contains(code)) << code << " is new: add it to " << file;
  }
}

}  // namespace
