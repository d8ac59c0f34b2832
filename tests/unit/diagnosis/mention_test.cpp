// SPDX-License-Identifier: Apache-2.0
#include "host/diagnosis/mention.hpp"

#include <gtest/gtest.h>

#include "rules.hpp"

namespace {

using namespace assay;
using namespace assay::testing;

TEST(mention, of_a_test_that_passed) {
  for (const char* line :
       {"tests/test_acme.py::test_acme_fails passed",
        "passed tests/test_acme.py::test_fails [ 50%]", "test_acme_fails (tests.acme) ... ok",
        "[       ok ] acme_test.fails (3 ms)", "tests/test_acme.py::test_fails passed [ 12%]",
        "1 passed: 'runtimeerror: acme fails' was raised as expected"}) {
    EXPECT_TRUE(only_mentions(line)) << line;
  }
  for (const char* line : {"tests/test_acme.py::test_acme_fails failed", "acme fails",
                           "runtimeerror: acme fails: an argument of this type was passed",
                           "passed an acme tensor to a kernel that fails"}) {
    EXPECT_FALSE(only_mentions(line)) << line;
  }
}

TEST(mention, in_advice) {
  EXPECT_TRUE(only_mentions("faq: if you see \"acme fails\", restart it"));
  EXPECT_TRUE(only_mentions("# if you get an error like `acme fails`: restart"));
  EXPECT_FALSE(only_mentions("acme fails. if you see this often, tell us"));
  EXPECT_FALSE(only_mentions("acme fails; when you see it in a container mount 'x'"));
}

TEST(mention, in_a_commit) {
  EXPECT_TRUE(only_mentions("1a2b3c4 fix \"acme fails\" on the new card (#12)"));
  EXPECT_TRUE(only_mentions("fedcba9876 handle acme fails in the loop"));
  EXPECT_FALSE(only_mentions("1234567 fix acme fails")) << "a number";
  EXPECT_FALSE(only_mentions("7f1a2b3c4d5e acme fails in kernel")) << "an address";
}

TEST(mention, counts_as_absent) {
  const knowledge all = known(likely("ACME-DOWN", "all = [\"acme fails\"]"));
  EXPECT_EQ(in_short(judged(all, "If you see 'acme fails', restart it.")), "");
  EXPECT_EQ(in_short(judged(all, "If you see 'acme fails', restart it.\nError: acme fails")),
            "ACME-DOWN likely");
}

}  // namespace
