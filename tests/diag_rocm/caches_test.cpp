// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "diag_rocm/cache_files.hpp"
#include "diag_rocm/caches_probe.hpp"
#include "library_tree.hpp"

namespace {

using assay::probe_state;
using diag_rocm::file_access;
using diag_rocm::testing::findings;
using diag_rocm::testing::library_tree;
using diag_rocm::testing::value_named;

const file_access anything_goes{[](const auto&) { return true; },
                                [](const auto&) { return std::uintmax_t{1} << 40; }};

class home_tree : public library_tree {
 public:
  home_tree() {
    variables["HOME"] = "/home/ada";
    write("/home/ada/.profile");
  }
};

assay::probe_answer ask(const library_tree& tree, const file_access& access = anything_goes) {
  return diag_rocm::make_caches(tree.source(), access)->look(tree.site());
}

/// The header of an SQLite database of so many pages, and the rest of them.
std::string sqlite(unsigned pages) {
  std::string file("SQLite format 3\0", 16);
  file += std::string("\x10\x00", 2);  // pages of 4096 bytes
  file.resize(24, '\0');
  file += std::string("\0\0\0\x07", 4);  // changes
  file += std::string("\0\0\0", 3) + static_cast<char>(pages);
  file.resize(92, '\0');
  file += std::string("\0\0\0\x07", 4);
  file.resize(std::size_t{4096} * pages, '\0');
  return file;
}

TEST(caches, of_a_home_folder) {
  const home_tree tree;
  const auto answer = ask(tree);
  EXPECT_EQ(answer.state, probe_state::yes) << answer.fact;
  EXPECT_EQ(value_named(answer, "user database"), "/home/ada/.config/miopen");
  EXPECT_EQ(value_named(answer, "kernel cache"), "/home/ada/.cache/miopen");
}

TEST(caches, variables_name_others) {
  home_tree tree;
  tree.variables["MIOPEN_USER_DB_PATH"] = "/data/db";
  tree.variables["MIOPEN_DISABLE_CACHE"] = "On";
  const auto answer = ask(tree);
  EXPECT_EQ(value_named(answer, "user database"), "/data/db");
  EXPECT_EQ(value_named(answer, "kernel cache"), "");
  tree.variables.erase("MIOPEN_DISABLE_CACHE");
  tree.variables["MIOPEN_CUSTOM_CACHE_DIR"] = "/data/cache";
  EXPECT_EQ(value_named(ask(tree), "kernel cache"), "/data/cache");
}

TEST(caches, on_windows) {
  library_tree tree;
  tree.write("/Windows/System32/kernel32.dll");
  tree.variables["USERPROFILE"] = "/Users/ada";
  const auto places = diag_rocm::miopen_places(tree.site(), tree.variables);
  ASSERT_EQ(places.size(), 2U);
  EXPECT_EQ(places[0].folder, "/Users/ada/.miopen/db");
  EXPECT_EQ(places[1].folder, "/Users/ada/.miopen/cache");
}

TEST(caches, nobody_knows_where) { EXPECT_EQ(ask(library_tree()).state, probe_state::unknown); }

TEST(caches, no_right_to_write) {
  const home_tree tree;
  file_access access = anything_goes;
  access.may_write = [](const auto&) { return false; };
  const auto answer = ask(tree, access);
  EXPECT_EQ(answer.state, probe_state::no);
  EXPECT_EQ(answer.findings, findings{"ROCM-MIOPEN-DB-UNWRITABLE"});
  EXPECT_NE(answer.fact.find("/home/ada"), std::string::npos) << answer.fact;
}

TEST(caches, do_not_matter_without_an_amd_gpu) {
  library_tree tree("");
  tree.variables["HOME"] = "/nonexistent";
  file_access access = anything_goes;
  access.may_write = [](const auto&) { return false; };
  const auto answer = ask(tree, access);
  EXPECT_EQ(answer.state, probe_state::unknown) << answer.fact;
  EXPECT_TRUE(answer.findings.empty());
}

TEST(caches, a_home_that_is_not_there) {
  library_tree tree;
  tree.variables["HOME"] = "/nonexistent";
  file_access access = anything_goes;
  access.may_write = [](const auto&) { return false; };
  const auto answer = ask(tree, access);
  EXPECT_EQ(answer.findings, findings{"ROCM-MIOPEN-DB-UNWRITABLE"});
  EXPECT_NE(answer.fact.find("may not write into /, the nearest folder"), std::string::npos)
      << answer.fact;
}

TEST(caches, a_file_in_the_way) {
  const home_tree tree;
  tree.write("/home/ada/.config");
  const auto answer = ask(tree);
  EXPECT_EQ(answer.findings, findings{"ROCM-MIOPEN-DB-UNWRITABLE"});
  EXPECT_NE(answer.fact.find("/home/ada/.config is not a folder"), std::string::npos)
      << answer.fact;
}

TEST(caches, a_full_disk) {
  const home_tree tree;
  file_access access = anything_goes;
  access.free_bytes = [](const auto&) { return std::uintmax_t{1000}; };
  EXPECT_EQ(ask(tree, access).findings, findings{"ROCM-MIOPEN-CACHE-FULL"});
}

TEST(caches, mounted_read_only) {
  const home_tree tree;
  tree.write("/proc/self/mounts", "/dev/sda1 / ext4 rw 0 0\n/dev/sdb1 /home ext4 ro,noatime 0 0\n");
  const auto answer = ask(tree);
  EXPECT_EQ(answer.findings, findings{"ROCM-MIOPEN-DB-UNWRITABLE"});
  EXPECT_NE(answer.fact.find("read-only"), std::string::npos) << answer.fact;
}

TEST(caches, a_home_on_the_network) {
  home_tree tree;
  tree.write("/proc/self/mounts", "/dev/sda1 / ext4 rw 0 0\nserver:/h /home nfs4 rw 0 0\n");
  // MIOpen goes elsewhere by itself.
  auto answer = ask(tree);
  EXPECT_EQ(answer.state, probe_state::yes) << answer.fact;
  EXPECT_EQ(value_named(answer, "user database"), "/tmp/.config/miopen");
  // Not where it is told to go there.
  tree.variables["MIOPEN_USER_DB_PATH"] = "/home/ada/db";
  answer = ask(tree);
  EXPECT_EQ(answer.findings, findings{"ROCM-MIOPEN-DB-IO"});
}

TEST(caches, mounts) {
  const library_tree tree;
  tree.write("/proc/self/mounts",
             "/dev/sda1 / ext4 rw 0 0\n"
             "x /mnt/my\\040disk cifs rw 0 0\n"
             "y /mnt xfs rw 0 0\n"
             "z /mnt/other ext4 rw 0 0\n");
  EXPECT_EQ(diag_rocm::mount_of(tree.site(), "/mnt/my disk/a").type, "cifs");
  EXPECT_TRUE(diag_rocm::mount_of(tree.site(), "/mnt/my disk/a").is_network());
  EXPECT_EQ(diag_rocm::mount_of(tree.site(), "/mnt/others").type, "xfs");
  EXPECT_EQ(diag_rocm::mount_of(tree.site(), "/home").type, "ext4");
  EXPECT_EQ(diag_rocm::mount_of(library_tree().site(), "/home").type, "");
}

TEST(caches, sqlite_files) {
  const auto fault = [](const std::string& content) {
    const library_tree tree;
    tree.write("/x.ukdb", content);
    return diag_rocm::sqlite_fault(tree.at("/x.ukdb"));
  };
  EXPECT_EQ(fault(sqlite(3)), "");
  EXPECT_EQ(fault(""), "");
  EXPECT_EQ(fault("rubbish"), "is no SQLite database");
  EXPECT_EQ(fault(std::string(8192, '\0')), "is no SQLite database");
  EXPECT_EQ(fault(sqlite(3).substr(0, 8192)), "is cut off");
  EXPECT_EQ(fault(sqlite(3).substr(0, 5000)), "is cut off");
  std::string odd = sqlite(1);
  odd[16] = 3;
  EXPECT_EQ(fault(odd), "has a damaged header");
}

TEST(caches, damaged_files) {
  const home_tree tree;
  tree.write("/home/ada/.cache/miopen/3.5.1.0/gfx1032_32.ukdb", sqlite(2));
  EXPECT_EQ(ask(tree).state, probe_state::yes);
  tree.write("/home/ada/.cache/miopen/3.5.1.0/gfx1032_32.ukdb", sqlite(2).substr(0, 4096));
  auto answer = ask(tree);
  EXPECT_EQ(answer.findings, findings{"ROCM-MIOPEN-DB-CORRUPT"});
  EXPECT_NE(answer.fact.find("3.5.1.0/gfx1032_32.ukdb is cut off"), std::string::npos)
      << answer.fact;
  const home_tree other;
  other.write("/home/ada/.config/miopen/gfx1032_32.HIP.3_5_1.ufdb.txt", "1x1=a:1\n2x2=b:2\n");
  EXPECT_EQ(ask(other).state, probe_state::yes);
  other.write("/home/ada/.config/miopen/gfx1032_32.HIP.3_5_1.ufdb.txt",
              std::string("1x1=a:1\n\0\0\0\0", 12));
  EXPECT_EQ(ask(other).findings, findings{"ROCM-MIOPEN-DB-CORRUPT"});
}

TEST(caches, files_of_another_user) {
  const home_tree tree;
  tree.write("/home/ada/.cache/miopen/3.5.1.0/gfx1032_32.ukdb", sqlite(2));
  file_access access = anything_goes;
  access.may_write = [](const std::filesystem::path& path) { return path.extension() != ".ukdb"; };
  EXPECT_EQ(ask(tree, access).findings, findings{"ROCM-MIOPEN-DB-UNWRITABLE"});
}

}  // namespace
