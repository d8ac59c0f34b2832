// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>

#include "host/platform/platform.hpp"
#include "temp_dir.hpp"

#if !defined(_WIN32)
#include <unistd.h>

namespace assay {
namespace {

namespace fs = std::filesystem;

class trust_test : public ::testing::Test {
 protected:
  static void let_everybody_write(const fs::path& path) {
    fs::permissions(path, fs::perms::others_write, fs::perm_options::add);
  }
  static std::string who(const fs::path& file) {
    return platform::others_may_write(file).value_or("");
  }

  testing::temp_dir folder_;
  fs::path file_ = folder_.write("a/b/c/x.assay.so", "");
};

TEST_F(trust_test, the_file_and_every_folder_above_it) {
  EXPECT_EQ(who(file_), "");
  for (const char* part : {"a/b/c", "a/b", "a"}) {
    const fs::path folder = folder_.path() / part;
    const fs::perms before = fs::status(folder).permissions();
    let_everybody_write(folder);
    EXPECT_EQ(who(file_), "its folder " + folder.string() + " may be written by everybody");
    fs::permissions(folder, fs::perms::sticky_bit, fs::perm_options::add);
    EXPECT_EQ(who(file_), "") << "as in /tmp, only its owner can take an entry away";
    fs::permissions(folder, before);
  }
  let_everybody_write(file_);
  EXPECT_EQ(who(file_), "the file may be written by everybody");
}

TEST_F(trust_test, the_folders_of_a_link_and_of_what_it_points_to) {
  folder_.make_dir("links");
  const fs::path link = folder_.path() / "links" / "y.assay.so";
  fs::create_symlink("../a/b/c/x.assay.so", link);
  EXPECT_EQ(who(link), "");
  let_everybody_write(folder_.path() / "links");
  EXPECT_NE(who(link), "") << "the link can be turned elsewhere";
  EXPECT_EQ(who(file_), "");
  fs::permissions(folder_.path() / "links", fs::perms::others_write, fs::perm_options::remove);
  let_everybody_write(folder_.path() / "a" / "b");
  EXPECT_NE(who(link), "") << "so can what it points to";
}

TEST_F(trust_test, links_in_the_middle_and_in_circles) {
  folder_.make_dir("open");
  fs::create_directory_symlink("../a/b", folder_.path() / "open" / "in");
  fs::create_directory_symlink("open/in", folder_.path() / "far");
  EXPECT_EQ(who(folder_.path() / "far/c/x.assay.so"), "");
  let_everybody_write(folder_.path() / "open");
  EXPECT_NE(who(folder_.path() / "far/c/x.assay.so").find("open may be written"),
            std::string::npos);
  fs::create_symlink("circle", folder_.path() / "circle");
  EXPECT_EQ(who(folder_.path() / "circle"), "") << "opening it says what is wrong";
}

TEST_F(trust_test, an_owner_who_is_somebody_else) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can give files away";
  }
  ASSERT_EQ(::chown((folder_.path() / "a").c_str(), 12345, static_cast<gid_t>(-1)), 0);
  EXPECT_EQ(who(file_), "its folder " + (folder_.path() / "a").string() + " belongs to user 12345");
  const fs::path link = folder_.path() / "z.assay.so";
  const fs::path target = folder_.write("own/z", "");
  fs::create_symlink(target, link);
  ASSERT_EQ(::lchown(link.c_str(), 12345, static_cast<gid_t>(-1)), 0);
  EXPECT_EQ(who(link), "the link " + link.string() + " belongs to user 12345");
}

}  // namespace
}  // namespace assay
#endif
