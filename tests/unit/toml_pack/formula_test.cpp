// SPDX-License-Identifier: Apache-2.0
#include "host/worker/toml_pack_formula.hpp"

#include <gtest/gtest.h>

namespace {

using assay::worker::formula_reader;
using assay::worker::text_mistake;

TEST(formula, values) {
  formula_reader reader;
  reader.set_names({{"m", 128}, {"k", 512}, {"in0", 65536}});
  EXPECT_EQ(reader.value("2*m*k"), 131072.0);
  EXPECT_EQ(reader.value("in0 + m^2"), 81920.0);
  EXPECT_EQ(reader.value("1/sqrt(4)"), 0.5);
  EXPECT_EQ(reader.value("ceil(m/100) + floor(m/100)"), 3.0);
  EXPECT_EQ(reader.value("m > k ? 1 : min(m, 2)"), 2.0);
  reader.set_names({{"m", 1}});  // the others are gone
  EXPECT_EQ(reader.value("m"), 1.0);
  EXPECT_THROW(reader.value("k"), text_mistake);
  EXPECT_TRUE(reader.is_taken("sqrt"));
  EXPECT_FALSE(reader.is_taken("m"));
}

std::pair<std::string, std::size_t> mistake_of(const std::string& formula) {
  formula_reader reader;
  reader.set_names({{"rows", 128}, {"k", 512}});
  try {
    const double v = reader.value(formula);
    return {"none: " + std::to_string(v), 0};
  } catch (const text_mistake& e) {
    return {e.what(), e.offset()};
  }
}

TEST(formula, mistakes) {
  struct one {
    std::string formula, part;
    std::size_t offset;
  };
  for (const auto& [formula, part, offset] :
       std::vector<one>{{"2*rwos", "no number or function 'rwos'; did you mean 'rows'?", 2},
                        {"k + qqqqqqq", "no number or function 'qqqqqqq'", 4},
                        {"2*", "cannot be read", 2},
                        {"", "cannot be read", 0},
                        {"(2", "cannot be read", 2},
                        {"1/0", "is infinite", 0},
                        {"0/0", "is no number", 0},
                        {"1, 2", "has one value, this one has 2", 0},
                        {"k = 3", "cannot be read", 2},
                        {"\"x\"", "a formula has no '\"'", 0},
                        {std::string("k\0k", 3), "a formula has no zero byte", 1},
                        {std::string(501, '1'), "at most 500 characters", 500}}) {
    const auto [text, at] = mistake_of(formula);
    EXPECT_NE(text.find(part), std::string::npos) << formula << ": " << text;
    EXPECT_EQ(at, offset) << formula << ": " << text;
    EXPECT_EQ(text.find('\n'), std::string::npos);
  }
}

TEST(formula, deep_nesting_ends) {
  EXPECT_EQ(mistake_of(std::string(250, '(') + "1" + std::string(249, ')')).first.substr(0, 7),
            "formula");
  EXPECT_EQ(mistake_of(std::string(249, '(') + "1" + std::string(249, ')')).first.substr(0, 4),
            "none");
}

}  // namespace
