// SPDX-License-Identifier: Apache-2.0
//
// Which rule files are read, and the version ranges.
#include <gtest/gtest.h>

#include <stdexcept>

#include "rules.hpp"
#include "temp_dir.hpp"

namespace {

namespace fs = std::filesystem;
using namespace assay;
using namespace assay::testing;

TEST(knowledge, of_files_and_folders) {
  const temp_dir folder;
  folder.write("packs/b.assay.toml", pack("b") + entry("ACME-B"));
  folder.write("packs/a.assay.toml", pack("a") + entry("ACME-A"));
  folder.write("packs/notes.toml", "not for assay");
  folder.write("packs/inner/c.assay.toml", pack("c") + entry("ACME-C"));
  const auto single = folder.write("d.assay.toml", pack("d") + entry("ACME-D"));
  const auto other = folder.write("e.txt", "");
  const knowledge all =
      read_knowledge({folder.path() / "packs", single, other, folder.path() / "nowhere",
                      folder.path() / "packs" / ".." / "d.assay.toml"},
                     false);
  std::vector<std::string> ids;
  for (const rule_pack& one : all.packs) {
    EXPECT_EQ(one.refused, "") << one.file;
    ids.push_back(one.id);
  }
  EXPECT_EQ(ids, (std::vector<std::string>{"a", "b", "d"}));
}

TEST(knowledge, file_that_everybody_may_write) {
  const temp_dir folder;
  const auto file = folder.write("a.assay.toml", pack("a") + entry("ACME-A"));
  folder.write("b.assay.toml", pack("b") + entry("ACME-B"));
  fs::permissions(file, fs::perms::others_write, fs::perm_options::add);
  const knowledge all = read_knowledge({folder.path()}, false);
  ASSERT_EQ(all.packs.size(), 2U);
  EXPECT_NE(all.packs[0].refused.find("may be written by everybody, who could change what it "
                                      "advises; mend that (chmod, chown), or say --trust-plugins"),
            std::string::npos)
      << all.packs[0].refused;
  EXPECT_EQ(all.packs[1].refused, "");
  EXPECT_EQ(all.find("ACME-A"), nullptr);
  EXPECT_NE(read_knowledge({folder.path()}, true).find("ACME-A"), nullptr);
}

TEST(knowledge, what_is_no_file) {
  const temp_dir folder;
  folder.make_dir("a.assay.toml");
  fs::create_symlink("nowhere", folder.path() / "b.assay.toml");
  folder.write("c.assay.toml", pack("c") + entry("ACME-C"));
  const knowledge all = read_knowledge({folder.path()}, false);
  ASSERT_EQ(all.packs.size(), 3U);
  for (const std::size_t bad : {0U, 1U}) {
    EXPECT_NE(all.packs[bad].refused.find("it is no file that can be read"), std::string::npos)
        << all.packs[bad].refused;
  }
  EXPECT_NE(all.find("ACME-C"), nullptr);
}

TEST(version_in, ranges) {
  EXPECT_TRUE(version_in("2.6.0+rocm6.2", ">=2.4, <2.7"));
  EXPECT_FALSE(version_in("2.7.0", ">=2.4, <2.7"));
  EXPECT_FALSE(version_in("2.3.1", ">=2.4"));
  EXPECT_TRUE(version_in("2.11.0", ">2.9"));  // numbers, not text
  EXPECT_TRUE(version_in("2.4", "==2.4.0"));
  EXPECT_FALSE(version_in("2.4.1", "==2.4"));
  EXPECT_TRUE(version_in("2.4.1", "<=2.4.1"));
  EXPECT_FALSE(version_in("2.4", ">2.4.0"));
  EXPECT_TRUE(version_in("2.7.0a0+git1234", ">=2.7"));
  EXPECT_TRUE(version_in("1.13.1", ""));
}

TEST(version_in, what_is_no_range) {
  for (const char* range : {"2.4", "~2.4", ">=", "> x", ",", ">=2.4, 2.7"}) {
    EXPECT_THROW(static_cast<void>(version_in("0", range)), std::invalid_argument) << range;
  }
}

TEST(names, of_confidence_and_severity) {
  EXPECT_STREQ(name_of(confidence::certain), "certain");
  EXPECT_STREQ(name_of(confidence::likely), "likely");
  EXPECT_STREQ(name_of(confidence::possible), "possible");
  EXPECT_STREQ(name_of(severity::error), "error");
  EXPECT_STREQ(name_of(severity::warning), "warning");
  EXPECT_STREQ(name_of(severity::notice), "notice");
}

}  // namespace
