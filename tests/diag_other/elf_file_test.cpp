// SPDX-License-Identifier: Apache-2.0
#include "host/common/elf_file.hpp"

#include "fake_elf.hpp"
#include "temporary_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace {

test::fake_elf everything() {
  return {.machine = 183,
          .soname = "libx.so.1",
          .rpath = "/old",
          .runpath = "$ORIGIN:$ORIGIN/../lib",
          .needed = {"libc.so.6", "liby.so"},
          .version_needs = {{"libc.so.6", {"GLIBC_2.34", "GLIBC_2.17"}},
                            {"libstdc++.so.6", {"GLIBCXX_3.4.30"}}},
          .version_definitions = {"X_1.0", "X_1.1"},
          .sections = {{".one", "first"}, {".two", std::string(10000, 'z')}}};
}

std::string refusal(const std::filesystem::path& path) {
  try {
    const elf::file read(path);
    return "";
  } catch (const elf::foreign& e) {
    return std::string("foreign ") + e.what();
  } catch (const elf::error& e) {
    return e.what();
  }
}

TEST(elf_file, says_what_it_needs_and_holds) {
  const test::temporary_tree tree;
  everything().write(tree.at("/libx.so"));
  const elf::file read(tree.at("/libx.so"));
  EXPECT_EQ(read.machine(), elf::machine_aarch64);
  EXPECT_EQ(read.soname(), "libx.so.1");
  EXPECT_EQ(read.rpath(), "/old");
  EXPECT_EQ(read.runpath(), "$ORIGIN:$ORIGIN/../lib");
  EXPECT_EQ(read.needed(), (std::vector<std::string>{"libc.so.6", "liby.so"}));
  ASSERT_EQ(read.version_needs().size(), 2U);
  EXPECT_EQ(read.version_needs()[0].library, "libc.so.6");
  EXPECT_EQ(read.version_needs()[0].versions,
            (std::vector<std::string>{"GLIBC_2.34", "GLIBC_2.17"}));
  EXPECT_EQ(read.version_needs()[1].versions, (std::vector<std::string>{"GLIBCXX_3.4.30"}));
  EXPECT_EQ(read.version_definitions(), (std::vector<std::string>{"X_1.0", "X_1.1"}));
  const elf::section* one = read.find_section(".one");
  ASSERT_NE(one, nullptr);
  EXPECT_EQ(read.read(*one, 0, 100), "first");
  EXPECT_EQ(read.read(*one, 2, 2), "rs");
  EXPECT_EQ(read.read(*one, 5, 2), "");
  ASSERT_NE(read.find_section(".two"), nullptr);
  EXPECT_EQ(read.find_section(".two")->size, 10000U);
  EXPECT_EQ(read.find_section(".three"), nullptr);
}

TEST(elf_file, a_file_with_nothing_in_it_is_read) {
  const test::temporary_tree tree;
  test::fake_elf{}.write(tree.at("/plain.so"));
  const elf::file read(tree.at("/plain.so"));
  EXPECT_TRUE(read.needed().empty());
  EXPECT_TRUE(read.version_needs().empty());
  EXPECT_TRUE(read.version_definitions().empty());
}

TEST(elf_file, what_is_no_elf_file_is_refused_with_a_reason) {
  const test::temporary_tree tree;
  EXPECT_NE(refusal(tree.file("/empty.so")).find("not an ELF file"), std::string::npos);
  EXPECT_NE(refusal(tree.file("/script.so", "INPUT ( /lib/libc.so.6 ) GROUP")).find("not an ELF"),
            std::string::npos);
  EXPECT_NE(refusal(tree.folder("/folder.so")).find("not a regular file"), std::string::npos);
  EXPECT_NE(refusal(tree.at("/none.so")).find("none.so"), std::string::npos);
  std::string narrow = everything().build();
  narrow[4] = 1;
  EXPECT_EQ(refusal(tree.file("/narrow.so", narrow)).rfind("foreign ", 0), 0U);
}

// Whatever is wrong with a file, reading it ends with an answer or an elf::error.
TEST(elf_file, a_damaged_file_is_an_error_and_nothing_worse) {
  const test::temporary_tree tree;
  test::fake_elf small = everything();
  small.sections = {{".one", "first"}};
  const std::string sound = small.build();
  for (std::size_t length = 0; length < sound.size(); length += 3) {
    refusal(tree.file("/cut.so", sound.substr(0, length)));
  }
  int refused = 0;
  for (std::size_t at = 16; at < sound.size(); at += 3) {
    std::string damaged = sound;
    damaged[at] = static_cast<char>(~damaged[at]);
    refused += refusal(tree.file("/damaged.so", damaged)).empty() ? 0 : 1;
  }
  EXPECT_GT(refused, 10);
  EXPECT_NE(refusal(tree.file("/half.so", sound.substr(0, sound.size() / 2))), "");
}

TEST(elf_file, reads_the_libraries_of_this_machine) {
  int seen = 0;
  for (const char* folder :
       {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64"}) {
    const std::filesystem::path libstdcxx = std::filesystem::path(folder) / "libstdc++.so.6";
    if (!std::filesystem::exists(libstdcxx)) {
      continue;
    }
    ++seen;
    const elf::file read(libstdcxx);
    EXPECT_EQ(read.soname(), "libstdc++.so.6");
    const std::vector<std::string>& needed = read.needed();
    EXPECT_NE(std::find(needed.begin(), needed.end(), "libc.so.6"), needed.end());
    const std::vector<std::string>& offers = read.version_definitions();
    EXPECT_NE(std::find(offers.begin(), offers.end(), "GLIBCXX_3.4.21"), offers.end());
    EXPECT_NE(read.find_section(".dynamic"), nullptr);
  }
  if (seen == 0) {
    GTEST_SKIP() << "no libstdc++.so.6 in the usual folders";
  }
}

}  // namespace
