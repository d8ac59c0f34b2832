// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "diag_rocm/library_folders.hpp"
#include "diag_rocm/library_probes.hpp"
#include "diag_rocm/loading_order.hpp"
#include "diag_rocm/loading_probes.hpp"
#include "library_tree.hpp"

namespace {

using assay::probe_state;
using diag_rocm::testing::findings;
using diag_rocm::testing::library_tree;
using diag_rocm::testing::value_named;

constexpr const char* torch = "/py/torch/lib/libtorch_hip.so";

test::fake_elf elf(const std::string& soname, std::vector<std::string> needed = {},
                   const std::string& runpath = {}, const std::string& rpath = {}) {
  test::fake_elf made;
  made.soname = soname;
  made.needed = std::move(needed);
  made.runpath = runpath;
  made.rpath = rpath;
  return made;
}

assay::probe_answer libraries(const library_tree& tree) {
  return diag_rocm::make_libraries(tree.source())->look(tree.site());
}
assay::probe_answer duplicates(const library_tree& tree) {
  return diag_rocm::make_duplicates(tree.source())->look(tree.site());
}

TEST(libraries, all_found_by_the_librarys_own_path) {
  const library_tree tree;
  tree.write(torch, elf("libtorch_hip.so", {"libMIOpen.so.1", "libc10.so"}, "$ORIGIN"));
  tree.write("/py/torch/lib/libc10.so", elf("libc10.so"));
  tree.write("/py/torch/lib/libMIOpen.so.1",
             elf("libMIOpen.so.1", {"libc10.so"}, "${ORIGIN}/../lib"));
  const auto answer = libraries(tree);
  EXPECT_EQ(answer.state, probe_state::yes) << answer.fact;
  EXPECT_NE(answer.fact.find("all 2 libraries"), std::string::npos) << answer.fact;
}

TEST(libraries, the_missing_one_and_who_needs_it) {
  const library_tree tree;
  tree.write(torch, elf("libtorch_hip.so", {"libMIOpen.so.1"}, "$ORIGIN"));
  tree.write("/py/torch/lib/libMIOpen.so.1",
             elf("libMIOpen.so.1", {"librocblas.so.5", "libhiprtc.so.7"}, "$ORIGIN"));
  tree.write("/opt/rocm/lib/librocblas.so.4", elf("librocblas.so.4"));
  const auto answer = libraries(tree);
  EXPECT_EQ(answer.state, probe_state::no);
  EXPECT_EQ(answer.findings, findings{"ROCM-LIBRARY-MISSING"});
  EXPECT_EQ(answer.evidence, (findings{"/py/torch/lib/libMIOpen.so.1 needs librocblas.so.5",
                                       "/py/torch/lib/libMIOpen.so.1 needs libhiprtc.so.7"}));
  EXPECT_NE(answer.fact.find("another version: /opt/rocm/lib/librocblas.so.4"), std::string::npos)
      << answer.fact;
}

TEST(libraries, off_the_loaders_path) {
  library_tree tree;
  tree.write(torch, elf("libtorch_hip.so", {"libamdhip64.so.7"}));
  tree.write("/opt/rocm/lib/libamdhip64.so.7", elf("libamdhip64.so.7"));
  EXPECT_NE(libraries(tree).fact.find("it lies in /opt/rocm/lib"), std::string::npos);
  EXPECT_EQ(libraries(tree).state, probe_state::no);
  tree.variables["LD_LIBRARY_PATH"] = "/nowhere:/opt/rocm/lib";
  EXPECT_EQ(libraries(tree).state, probe_state::yes);
  tree.variables.clear();
  tree.write("/etc/ld.so.conf", "include /etc/ld.so.conf.d/*.conf\n");
  tree.write("/etc/ld.so.conf.d/rocm.conf", "# AMD\n/opt/rocm/lib\n");
  EXPECT_EQ(libraries(tree).state, probe_state::yes);
}

TEST(libraries, rpath_is_inherited_and_runpath_is_not) {
  for (const bool runpath : {false, true}) {
    const library_tree tree;
    const std::string folder = "$ORIGIN/deep";
    tree.write(torch,
               elf("libtorch_hip.so", {"liba.so"}, runpath ? folder : "", runpath ? "" : folder));
    tree.write("/py/torch/lib/deep/liba.so", elf("liba.so", {"libb.so"}));
    tree.write("/py/torch/lib/deep/libb.so", elf("libb.so"));
    EXPECT_EQ(libraries(tree).state, runpath ? probe_state::no : probe_state::yes);
  }
}

TEST(libraries, files_that_the_loader_passes_over) {
  const library_tree tree;
  tree.write(torch, elf("libtorch_hip.so", {"liba.so"}, "$ORIGIN"));
  tree.write("/py/torch/lib/liba.so", "GROUP ( liba.so.1 )");
  EXPECT_EQ(libraries(tree).state, probe_state::no);
  test::fake_elf foreign = elf("liba.so");
  foreign.machine = 183;
  tree.write("/py/torch/lib/liba.so", foreign);
  EXPECT_EQ(libraries(tree).state, probe_state::no);
  tree.write("/usr/lib/liba.so", elf("liba.so"));
  EXPECT_EQ(libraries(tree).state, probe_state::yes);
}

TEST(libraries, rocms_python_packages_are_not_on_the_loaders_path) {
  const library_tree tree;
  tree.write(torch, elf("libtorch_hip.so", {"libamdhip64.so.7"}, "$ORIGIN"));
  tree.write("/py/_rocm_sdk_core/lib/libamdhip64.so.7", elf("libamdhip64.so.7"));
  const auto answer = libraries(tree);
  EXPECT_EQ(answer.state, probe_state::yes);
  EXPECT_EQ(value_named(answer, "LD_LIBRARY_PATH"), "/py/torch/lib:/py/_rocm_sdk_core/lib");
}

TEST(libraries, other_builds) {
  library_tree tree;
  EXPECT_EQ(libraries(tree).state, probe_state::unknown);
  tree.write("/py/torch/lib/torch_hip.dll");
  EXPECT_EQ(libraries(tree).state, probe_state::unknown);
  tree.write(torch, "damaged");
  EXPECT_EQ(libraries(tree).state, probe_state::unknown);
}

TEST(libraries, a_circle_ends) {
  const library_tree tree;
  tree.write(torch, elf("libtorch_hip.so", {"liba.so"}, "$ORIGIN"));
  tree.write("/py/torch/lib/liba.so", elf("liba.so", {"libtorch_hip.so"}, "$ORIGIN"));
  EXPECT_EQ(libraries(tree).state, probe_state::yes);
}

TEST(duplicates, one_install) {
  library_tree tree;
  EXPECT_EQ(duplicates(tree).state, probe_state::unknown);
  tree.write("/py/torch/lib/libamdhip64.so", "seven");
  tree.write("/py/torch/lib/libhsa-runtime64.so", "seven");
  EXPECT_EQ(duplicates(tree).state, probe_state::yes);
  // In /opt, but on nobody's path.
  tree.write("/opt/rocm/lib/libamdhip64.so.6", "six");
  EXPECT_EQ(duplicates(tree).state, probe_state::yes);
  // The same file by another name.
  std::filesystem::create_directories(tree.at("/links"));
  std::filesystem::create_symlink(tree.at("/py/torch/lib/libamdhip64.so"),
                                  tree.at("/links/libamdhip64.so.7"));
  tree.variables["LD_LIBRARY_PATH"] = "/links";
  EXPECT_EQ(duplicates(tree).state, probe_state::yes) << duplicates(tree).fact;
}

TEST(duplicates, another_on_the_library_path) {
  library_tree tree;
  tree.write("/py/torch/lib/libamdhip64.so", "seven");
  tree.write("/opt/rocm-6.4.0/lib/libamdhip64.so.6.4.60400", "six");
  std::filesystem::create_symlink("libamdhip64.so.6.4.60400",
                                  tree.at("/opt/rocm-6.4.0/lib/libamdhip64.so.6"));
  tree.variables["LD_LIBRARY_PATH"] = "/opt/rocm-6.4.0/lib";
  auto answer = duplicates(tree);
  EXPECT_EQ(answer.state, probe_state::no);
  EXPECT_EQ(answer.findings, findings{"ROCM-TWO-INSTALLS"});
  EXPECT_EQ(answer.evidence,
            (findings{"/py/torch/lib/libamdhip64.so", "/opt/rocm-6.4.0/lib/libamdhip64.so.6"}));
  EXPECT_NE(answer.fact.find("6.4.60400, LD_LIBRARY_PATH"), std::string::npos) << answer.fact;
  tree.variables.clear();
  EXPECT_EQ(duplicates(tree).state, probe_state::yes);
  tree.write("/etc/ld.so.conf", "/opt/rocm-6.4.0/lib\n");
  EXPECT_EQ(duplicates(tree).state, probe_state::no);
}

TEST(library_probes, each_answers_here_and_in_an_empty_tree) {
  const library_tree empty("");
  for (const auto& probe : diag_rocm::library_probes()) {
    for (const assay::probe_site& site : {assay::probe_site{}, empty.site()}) {
      const auto answer = probe->look(site);
      EXPECT_FALSE(answer.fact.empty()) << probe->id();
      EXPECT_EQ(answer.fact.find('\n'), std::string::npos) << probe->id();
      EXPECT_EQ(probe->summary().back(), '?') << probe->id();
    }
  }
}

TEST(library_folders, versions_count_as_numbers) {
  const library_tree tree;
  for (const char* folder : {"/opt/rocm-6.4.0", "/opt/rocm-7.10.0", "/opt/rocm-7.2.0"}) {
    tree.write(std::string(folder) + "/lib/x");
  }
  const auto found = diag_rocm::rocm_folders(tree.site(), {});
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0], tree.at("/opt/rocm-7.10.0/lib"));
  EXPECT_EQ(found[2], tree.at("/opt/rocm-6.4.0/lib"));
}

TEST(library_folders, an_include_that_includes_itself) {
  const library_tree tree;
  tree.write("/etc/ld.so.conf", "include ld.so.conf\n/usr/local/lib\n");
  tree.write("/usr/local/lib/x");
  EXPECT_EQ(diag_rocm::system_folders(tree.site()).front(), tree.at("/usr/local/lib"));
}

TEST(library_folders, names_of_dlls) {
  const library_tree tree;
  tree.write("/bin/amdhip64_7.dll");
  tree.write("/bin/hiprtc-builtins0702.dll");
  tree.write("/bin/hiprtc0702.dll");
  EXPECT_EQ(diag_rocm::find_library({tree.at("/bin")}, "libamdhip64"),
            tree.at("/bin/amdhip64_7.dll"));
  EXPECT_EQ(diag_rocm::find_library({tree.at("/bin")}, "libhiprtc"),
            tree.at("/bin/hiprtc0702.dll"));
}

}  // namespace
