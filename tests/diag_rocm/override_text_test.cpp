// SPDX-License-Identifier: Apache-2.0
#include "override_text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace diag_rocm {

namespace {

const std::string fault =
    "Memory access fault by GPU node-2 (Agent handle: 0x5581) on address 0x7f1000. Reason: Page "
    "not "
    "present or supervisor privilege.\n";

/// "WRONG likely"; "": nothing is said.
std::string judged(const std::string& text, const std::string& architecture = "",
                   const std::string& after = fault) {
  const std::string log = text + "\n" + after;
  assay::failure f{};
  f.log = log;
  f.architecture = architecture;
  const auto answers = override_in_text().classify(f);
  return answers.empty()
             ? ""
             : answers[0].code.substr(sizeof("ROCM-OVERRIDE-") - 1) + " " + answers[0].confidence;
}

const std::string set = "export HSA_OVERRIDE_GFX_VERSION=";

TEST(override_in_text, the_word_alone_says_nothing) {
  for (const char* text :
       {"HSA_OVERRIDE_GFX_VERSION: none", "HSA_OVERRIDE_GFX_VERSION: <not set>",
        "HSA_OVERRIDE_GFX_VERSION=", "HSA_OVERRIDE_GFX_VERSION=\"\"",
        "#export HSA_OVERRIDE_GFX_VERSION=11.0.0", "  # HSA_OVERRIDE_GFX_VERSION=11.0.0 for iGPUs",
        "// HSA_OVERRIDE_GFX_VERSION=11.0.0", "REM set HSA_OVERRIDE_GFX_VERSION=11.0.0",
        "python x.py  # HSA_OVERRIDE_GFX_VERSION=11.0.0", "HSA_OVERRIDE_GFX_VERSION is not needed",
        "You can try HSA_OVERRIDE_GFX_VERSION=11.0.0 here"}) {
    EXPECT_EQ(judged(text), "") << text;
    EXPECT_EQ(judged(text, "gfx1030"), "") << text;
  }
}

TEST(override_in_text, what_was_taken_away_is_not_set) {
  EXPECT_EQ(judged(set + "11.0.0\nunset HSA_OVERRIDE_GFX_VERSION", "gfx1030"), "");
  EXPECT_EQ(judged(set + "11.0.0\nexport HSA_OVERRIDE_GFX_VERSION=", "gfx1030"), "");
  EXPECT_EQ(judged("$env:HSA_OVERRIDE_GFX_VERSION = '11.0.0'\n"
                   "Remove-Item Env:HSA_OVERRIDE_GFX_VERSION",
                   "gfx1030"),
            "");
  EXPECT_EQ(judged("env -u HSA_OVERRIDE_GFX_VERSION python x.py", "gfx1030"), "");
  EXPECT_EQ(judged("unset HSA_OVERRIDE_GFX_VERSION\n" + set + "11.0.0", "gfx1030"), "WRONG likely");
}

TEST(override_in_text, the_gpu_decides) {
  EXPECT_EQ(judged(set + "10.3.0", "gfx1012"), "WRONG likely");
  EXPECT_EQ(judged(set + "11.0.0\nfound gfx1151"), "WRONG likely");
  EXPECT_EQ(judged(set + "10.3.0\nAgent 2: gfx1034"), "LENT possible");
  EXPECT_EQ(judged(set + "11.0.0", "gfx1102"), "LENT possible");
  EXPECT_EQ(judged(set + "10.3.0"), "WRONG possible");
  EXPECT_EQ(judged(set + "10.3.0\nDevice: gfx1030"), "WRONG possible") << "that is what it makes";
  EXPECT_EQ(judged(set + "10.3.0\nbuilt for gfx900;gfx942;gfx1100;gfx1201"), "WRONG possible")
      << "a list names no GPU";
  EXPECT_EQ(judged(set + "11.0.0\nGPU0 gfx1101, GPU1 gfx1036"), "WRONG possible")
      << "which of them faulted?";
}

TEST(override_in_text, is_read_as_shells_and_files_write_it) {
  for (const char* text :
       {"HSA_OVERRIDE_GFX_VERSION=11.0.0 python x.py", "+ HSA_OVERRIDE_GFX_VERSION=11.0.0",
        "[root@host ~]# export HSA_OVERRIDE_GFX_VERSION=\"11.0.0\"",
        "docker run -e HSA_OVERRIDE_GFX_VERSION=11.0.0 image",
        "  HSA_OVERRIDE_GFX_VERSION: '11.0.0'", "      - HSA_OVERRIDE_GFX_VERSION=11.0.0",
        "HSA_OVERRIDE_GFX_VERSION_1=11.0.0", "$env:HSA_OVERRIDE_GFX_VERSION = '11.0.0'"}) {
    EXPECT_EQ(judged(text, "gfx1030"), "WRONG likely") << text;
  }
}

TEST(override_in_text, a_build_without_code_is_its_fault_across_generations_only) {
  const std::string lack = "RuntimeError: HIP error: invalid device function\n";
  EXPECT_EQ(judged(set + "11.0.0", "gfx1200", lack), "WRONG likely");
  EXPECT_EQ(judged(set + "11.0.0", "gfx1102", lack), "");
  EXPECT_EQ(judged(set + "11.0.0", "gfx1200", "KeyError: 'x'\n"), "");
}

}  // namespace

}  // namespace diag_rocm
