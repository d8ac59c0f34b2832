// SPDX-License-Identifier: Apache-2.0
#include "host/diagnosis/mention.hpp"

#include <gtest/gtest.h>

#include "rules.hpp"

namespace {

using namespace assay;
using namespace assay::testing;

TEST(mention, of_a_test) {
  for (const char* line :
       {"tests/test_acme.py::test_acme_fails passed",
        "passed tests/test_acme.py::test_fails [ 50%]", "test_acme_fails (tests.acme) ... ok",
        "test_acme_fails (tests.acme) ... fail", "[       ok ] acme_test.fails (3 ms)",
        "[ run      ] acme.fails", "  <function test_acme_fails>",
        "1/2 test  #1: acme fails ........   passed    0.01 sec", "start  1: acme fails",
        "tests/test_acme.py::test_fails passed [ 12%]",
        "1 passed: 'runtimeerror: acme fails' was raised as expected"}) {
    EXPECT_EQ(weight_of(line), weight::none) << line;
  }
  for (const char* line :
       {"failed test_acme.py::test_b - runtimeerror: acme fails", "acme fails",
        "runtimeerror: acme fails: an argument of this type was passed",
        "e       runtimeerror: acme fails", "test_b (tests.acme) ... acme fails: aborting",
        "passed an acme tensor to a kernel that fails"}) {
    EXPECT_EQ(weight_of(line), weight::full) << line;
  }
}

TEST(mention, by_a_test_s_name) {
  EXPECT_EQ(without_test_names("acme fails"), "");
  EXPECT_EQ(without_test_names("a.py::t[acme fails] failed"), "a.py              ] failed");
  const knowledge all = known(likely("ACME-DOWN", "all = [\"acme fails\"]"));
  EXPECT_EQ(in_short(judged(all, "a.py::t[acme fails] FAILED")), "");
  EXPECT_EQ(in_short(judged(all, "FAILED a.py::t[acme fails] - assert 1 == 2")), "");
  EXPECT_EQ(in_short(judged(all, "FAILED a.py::t - Error: acme fails")), "ACME-DOWN likely");
  EXPECT_EQ(in_short(judged(all, "a.py::t :0:rt.cpp:1: acme fails")), "ACME-DOWN likely");
}

TEST(mention, in_advice) {
  EXPECT_EQ(weight_of("faq: if you see \"acme fails\", restart it"), weight::none);
  EXPECT_EQ(weight_of("# if you get an error like `acme fails`: restart"), weight::none);
  EXPECT_EQ(weight_of("acme fails. if you see this often, tell us"), weight::full);
  EXPECT_EQ(weight_of("acme fails; when you see it in a container mount 'x'"), weight::full);
}

TEST(mention, in_history) {
  EXPECT_EQ(weight_of("1a2b3c4 fix \"acme fails\" on the new card (#12)"), weight::none);
  EXPECT_EQ(weight_of("fedcba9876 handle acme fails in the loop"), weight::none);
  EXPECT_EQ(weight_of("| * 1a2b3c4 (head -> main) [acme] avoid acme fails"), weight::none);
  EXPECT_EQ(weight_of("1234567 fix acme fails"), weight::full) << "a number";
  EXPECT_EQ(weight_of("7f1a2b3c4d5e acme fails in kernel"), weight::full) << "an address";
  EXPECT_EQ(weight_of("* fixed `acme fails` on the new card"), weight::slight);
}

TEST(mention, in_documentation_and_source_counts_a_little) {
  for (const char* line :
       {"## acme fails", "- **acme fails**: restart it", "| acme fails | restart it |",
        "#12  open  acme fails", "when the cable is out, acme says \"acme fails\"",
        "\"acme fails\" usually means a cable", "q: why do i get \"acme fails\"?",
        "if 'acme fails' in str(error):", "src/a.py:12: raise error(\"acme fails\")",
        "\"acme fails\",", "// acme fails here", "--ignore text   such as \"acme fails\"",
        "error 'acme fails' (expected)"}) {
    EXPECT_EQ(weight_of(line), weight::slight) << line;
  }
  for (const char* line :
       {"when i run it i get \"acme fails\"", "* step 2: acme fails", "\"acme fails\"",
        "{\"level\": \"error\", \"msg\": \"acme fails\"}", "[bug]: acme fails",
        "src/a.cpp:12: acme fails", "unexpected error: acme fails", "> acme fails"}) {
    EXPECT_EQ(weight_of(line), weight::full) << line;
  }
}

TEST(mention, makes_a_rule_possible_at_most) {
  const knowledge all = known(likely("ACME-DOWN", "all = [\"acme fails\"]"));
  EXPECT_EQ(in_short(judged(all, "If you see 'acme fails', restart it.")), "");
  EXPECT_EQ(in_short(judged(all, "## acme fails")), "ACME-DOWN possible");
  EXPECT_EQ(in_short(judged(all, "## acme fails\nError: acme fails")), "ACME-DOWN likely");
  EXPECT_EQ(in_short(judged(all, "If you see 'acme fails', restart it.\nError: acme fails")),
            "ACME-DOWN likely");
  const knowledge near = known(
      likely("ACME-DOWN", "all = [\"acme fails\"]\nany = [\"cable\", \"plug\"]\nwithin_lines = 2"));
  EXPECT_EQ(in_short(judged(near, "## acme fails\nthe cable\nlast")), "ACME-DOWN possible");
  EXPECT_EQ(in_short(judged(near, "## acme fails\nthe cable\nacme fails\nplug")),
            "ACME-DOWN likely");
}

TEST(mention, in_a_commit_or_a_patch) {
  const knowledge all = known(likely("ACME-DOWN", "all = [\"acme fails\"]"));
  const std::string commit =
      "commit 0123456789abcdef0123456789abcdef01234567\nAuthor: A\n\n"
      "    Mend the case that acme fails\n";
  EXPECT_EQ(in_short(judged(all, commit)), "");
  EXPECT_EQ(in_short(judged(all, commit + "$ ./acme\n    acme fails")), "ACME-DOWN likely");
  const std::string patch = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n+acme fails\n";
  EXPECT_EQ(in_short(judged(all, patch)), "ACME-DOWN possible");
  EXPECT_EQ(in_short(judged(all, patch + "$ ./acme\n- acme fails")), "ACME-DOWN likely");
}

}  // namespace
