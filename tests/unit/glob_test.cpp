// SPDX-License-Identifier: Apache-2.0
#include "host/common/glob.hpp"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(glob, stands_for_itself) {
  EXPECT_TRUE(glob_match("", ""));
  EXPECT_TRUE(glob_match("conv", "conv"));
  EXPECT_FALSE(glob_match("conv", "conv2d"));
  EXPECT_FALSE(glob_match("conv2d", "conv"));
  EXPECT_FALSE(glob_match("", "a"));
}

TEST(glob, stars_and_question_marks) {
  EXPECT_TRUE(glob_match("*", ""));
  EXPECT_TRUE(glob_match("*", "conv/conv2d"));
  EXPECT_TRUE(glob_match("c*d", "conv2d"));
  EXPECT_TRUE(glob_match("*a*b*", "xxaxxbxx"));
  EXPECT_FALSE(glob_match("*a*b", "xxaxxbxx"));
  EXPECT_TRUE(glob_match("conv?d", "conv2d"));
  EXPECT_FALSE(glob_match("conv?d", "convd"));
  EXPECT_FALSE(glob_match("?", ""));
  EXPECT_TRUE(glob_match("**", "x"));
}

TEST(glob, many_stars_take_no_exponential_time) {
  std::string pattern;
  for (int i = 0; i < 100; ++i) {
    pattern += "a*";
  }
  EXPECT_FALSE(glob_match(pattern + "b", std::string(2000, 'a')));
}

TEST(glob, sets) {
  EXPECT_TRUE(glob_match("conv[123]d", "conv2d"));
  EXPECT_FALSE(glob_match("conv[13]d", "conv2d"));
  EXPECT_TRUE(glob_match("conv[1-3]d", "conv3d"));
  EXPECT_FALSE(glob_match("conv[!1-3]d", "conv3d"));
  EXPECT_TRUE(glob_match("conv[!1-3]d", "conv4d"));
  EXPECT_TRUE(glob_match("[]]", "]"));
  EXPECT_TRUE(glob_match("[a-]", "-"));
  EXPECT_FALSE(glob_match("[a]", ""));
}

TEST(glob, open_bracket_without_an_end_is_literal) {
  EXPECT_TRUE(glob_match("a[b", "a[b"));
  EXPECT_FALSE(glob_match("a[b", "ab"));
  EXPECT_TRUE(glob_match("*[", "x["));
  EXPECT_TRUE(glob_match("[!", "[!"));
}

TEST(selects, category_check_and_id) {
  EXPECT_TRUE(selects("elementwise", "elementwise", "add", "float32"));
  EXPECT_TRUE(selects("elementwise/add", "elementwise", "add", "float32"));
  EXPECT_TRUE(selects("elementwise/add[float32]", "elementwise", "add", "float32"));
  EXPECT_FALSE(selects("elementwise/add[float32]", "elementwise", "add", "float16"));
  EXPECT_FALSE(selects("add", "elementwise", "add", "float32"));
  EXPECT_TRUE(selects("*/add", "elementwise", "add", "float32"));
  EXPECT_FALSE(selects("", "elementwise", "add", "float32"));
}

TEST(selects, patterns_in_the_brackets_of_the_id) {
  EXPECT_TRUE(selects("conv/*[float*]", "conv", "conv2d", "float16"));
  EXPECT_FALSE(selects("conv/*[float*]", "conv", "conv2d", "int64"));
  EXPECT_TRUE(selects("*[bfloat16]", "conv", "conv2d", "bfloat16"));
  EXPECT_TRUE(selects("*[*]", "conv", "conv2d", "bfloat16"));
}

TEST(selects, dtype_brackets_are_no_set) {
  EXPECT_FALSE(selects("elementwise/add[float32]", "elementwise", "add2", "float32"));
  EXPECT_FALSE(selects("elementwise/add[float32]", "elementwise", "add2", "int64"));
}

TEST(selects, sets_still_work) {
  EXPECT_TRUE(selects("conv/conv[12]d", "conv", "conv2d", "float32"));
  EXPECT_TRUE(selects("conv/x[abc]", "conv", "xa", "float32"));
  EXPECT_TRUE(selects("conv/conv[12]d[float16]", "conv", "conv1d", "float16"));
}

}  // namespace
}  // namespace assay
