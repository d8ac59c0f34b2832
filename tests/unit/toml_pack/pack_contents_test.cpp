// SPDX-License-Identifier: Apache-2.0
#include "host/common/pack_contents.hpp"

#include <gtest/gtest.h>

namespace {

using assay::contents_of;

TEST(pack_contents, headers_at_the_beginning_of_a_line) {
  for (const char* text : {"[[check]]", "x = 1\n[[check]]\n", "\t [[ check ]]", "[[category]]",
                           "\r\n[[check ]]", "\xEF\xBB\xBF[[check]]", "[[check.paths]]"}) {
    EXPECT_TRUE(contents_of(text).checks) << text;
    EXPECT_FALSE(contents_of(text).rules) << text;
  }
  for (const char* text : {"[[diagnosis]]", "[[diagnosis.rule]]", "\n [[classifier]]\n"}) {
    EXPECT_TRUE(contents_of(text).rules) << text;
    EXPECT_FALSE(contents_of(text).checks) << text;
  }
  EXPECT_TRUE(contents_of("[[diagnosis]]\n[[check]]").checks);
  EXPECT_TRUE(contents_of("[[diagnosis]]\n[[check]]").rules);
}

TEST(pack_contents, what_is_none) {
  for (const char* text : {"", "[", "[[", "[[chec", "[[check", "[[checks]]", "# [[check]]",
                           "x = \"[[check]]\"", "[check]", "[[[check]]]"}) {
    EXPECT_FALSE(contents_of(text).checks) << text;
    EXPECT_FALSE(contents_of(text).rules) << text;
  }
}

}  // namespace
