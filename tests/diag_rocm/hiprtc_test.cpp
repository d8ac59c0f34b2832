// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "diag_rocm/hiprtc.hpp"
#include "diag_rocm/hiprtc_probes.hpp"
#include "diag_rocm/hiprtc_verdict.hpp"
#include "diag_rocm/include_folders.hpp"
#include "unit/temp_dir.hpp"

namespace {

using assay::testing::temp_dir;
using diag_rocm::environment;
using diag_rocm::judge_hiprtc_log;
using path = std::filesystem::path;

TEST(hiprtc_verdict, missing_cxx_headers) {
  const auto verdict = judge_hiprtc_log(
      "/tmp/comgr-1/input/k.cpp:3:10: fatal error: 'type_traits' file not found\n"
      "    3 | #include <type_traits>\n"
      "1 error generated when compiling for gfx1032.\n");
  EXPECT_EQ(verdict.finding, "ROCM-HIPRTC-HEADERS");
  ASSERT_EQ(verdict.evidence.size(), 1U);
  EXPECT_EQ(verdict.evidence[0],
            "/tmp/comgr-1/input/k.cpp:3:10: fatal error: 'type_traits' file not found");
}

TEST(hiprtc_verdict, each_log_has_its_own_finding) {
  const auto finding = [](const char* log) { return judge_hiprtc_log(log).finding; };
  EXPECT_EQ(finding("os_defines.h:39:10: fatal error: 'features.h' file not found"),
            "ROCM-HIPRTC-LIBC-HEADERS");
  EXPECT_EQ(finding("type_traits:62:12: error: redefinition of 'integral_constant'\n"
                    "x.h:1:1: note: previous definition is here"),
            "ROCM-HIPRTC-HEADER-CLASH");
  EXPECT_EQ(finding("stdint.h:3:9: error: typedef redefinition with different types"),
            "ROCM-HIPRTC-HEADER-CLASH");
  EXPECT_EQ(finding("k.cpp:1:10: fatal error: 'stddef.h' file not found"),
            "ROCM-HIPRTC-RESOURCE-DIR");
  EXPECT_EQ(finding("error: cannot find ROCm device library; provide its path"),
            "ROCM-HIPRTC-DEVICE-LIBS");
  EXPECT_EQ(finding("error: unknown argument: '--nonsense'"), "ROCM-HIPRTC-OPTIONS");
  EXPECT_EQ(finding("k.cpp:1:10: fatal error: 'limits' file not found"), "ROCM-HIPRTC-HEADERS");
  EXPECT_EQ(finding("k.cpp:1:1: error: use of undeclared identifier 'x'"), "ROCM-HIPRTC-BROKEN");
}

TEST(hiprtc_verdict, an_empty_log_with_a_bad_temporary_folder) {
  EXPECT_EQ(judge_hiprtc_log("", "TMPDIR=/gone is not a folder").finding, "ROCM-HIPRTC-TMPDIR");
  EXPECT_EQ(judge_hiprtc_log("").finding, "ROCM-HIPRTC-BROKEN");
  // What the log says counts for more.
  EXPECT_EQ(judge_hiprtc_log("error: unknown argument: '-x'", "TMPDIR=/gone").finding,
            "ROCM-HIPRTC-OPTIONS");
}

TEST(hiprtc_verdict, few_lines_are_kept_and_the_decisive_one_among_them) {
  std::string log;
  for (int i = 0; i < 50; ++i) {
    log += "k.cpp:1:1: error: something else\n";
  }
  log += "k.cpp:9:9: error: redefinition of 'x'\n";
  const auto verdict = judge_hiprtc_log(log);
  EXPECT_LE(verdict.evidence.size(), 8U);
  EXPECT_EQ(verdict.evidence.back(), "k.cpp:9:9: error: redefinition of 'x'");
}

TEST(include_folders, newest_complete_libstdcxx_of_debian) {
  const temp_dir tree;
  for (const char* version : {"9", "12"}) {
    tree.write(path("usr/include/c++") / version / "type_traits", "");
    tree.write(path("usr/include/x86_64-linux-gnu/c++") / version / "bits/c++config.h", "");
  }
  // Newer, but only half of it is installed.
  tree.write("usr/include/c++/14/type_traits", "");
  tree.write("usr/include/features.h", "");
  const auto found = diag_rocm::find_include_folders({tree.path()}, {});
  EXPECT_EQ(found.joined(false), "/usr/include/c++/12:/usr/include/x86_64-linux-gnu/c++/12");
  EXPECT_EQ(found.joined(true),
            "/usr/include/c++/12:/usr/include/x86_64-linux-gnu/c++/12:"
            "/usr/include/x86_64-linux-gnu:/usr/include");
}

TEST(include_folders, fedora_keeps_the_triplet_below_the_version) {
  const temp_dir tree;
  tree.write("usr/include/c++/14/type_traits", "");
  tree.write("usr/include/c++/14/x86_64-redhat-linux/bits/c++config.h", "");
  tree.write("usr/include/features.h", "");
  const auto found = diag_rocm::find_include_folders({tree.path()}, {});
  EXPECT_EQ(found.joined(true),
            "/usr/include/c++/14:/usr/include/c++/14/x86_64-redhat-linux:/usr/include");
}

TEST(include_folders, libcxx_where_there_is_nothing_else) {
  const temp_dir tree;
  tree.write("usr/include/c++/v1/type_traits", "");
  EXPECT_EQ(diag_rocm::find_include_folders({tree.path()}, {}).joined(false),
            "/usr/include/c++/v1");
  EXPECT_TRUE(diag_rocm::find_include_folders({tree.path() / "usr/share"}, {}).cxx.empty());
}

TEST(include_folders, visual_studio) {
  const temp_dir tree;
  const path msvc = "C:/Program Files/Microsoft Visual Studio/2022/BuildTools/VC/Tools/MSVC";
  tree.write(msvc / "14.9.1/include/type_traits", "");
  tree.write(msvc / "14.40.3/include/type_traits", "");
  tree.write("C:/Program Files (x86)/Windows Kits/10/Include/10.0.22621.0/ucrt/stdio.h", "");
  const auto found = diag_rocm::find_include_folders({tree.path()}, {});
  ASSERT_EQ(found.cxx.size(), 1U);
  EXPECT_NE(found.cxx[0].string().find("14.40.3"), std::string::npos);
  EXPECT_EQ(found.c.size(), 1U);
  EXPECT_EQ(found.separator, ';');
}

TEST(include_folders, a_developer_prompt) {
  const temp_dir tree;
  tree.write("vs/include/type_traits", "");
  tree.write("kit/ucrt/stdio.h", "");
  const environment variables{{"INCLUDE", "/kit/ucrt;/vs/include"}};
  const auto found = diag_rocm::find_include_folders({tree.path()}, variables);
  EXPECT_EQ(found.joined(true), "/vs/include;/kit/ucrt");
}

TEST(hiprtc_probes, temporary_folder) {
  const temp_dir tree;
  EXPECT_EQ(diag_rocm::scratch_fault({{"TMPDIR", tree.path().string()}}), "");
  EXPECT_EQ(diag_rocm::scratch_fault({{"TMPDIR", (tree.path() / "gone").string()}}),
            "TMPDIR=" + (tree.path() / "gone").string() + " is not a folder");
}

TEST(hiprtc_probes, another_tree_and_no_library) {
  const temp_dir tree;
  for (const auto& probe : diag_rocm::hiprtc_probes([](const auto&) { return environment{}; })) {
    EXPECT_TRUE(probe->summary().ends_with("?"));
    EXPECT_EQ(probe->look({tree.path()}).state, assay::probe_state::unknown);
  }
}

TEST(hiprtc, object_files) {
  std::string object(64, '\0');
  object.replace(0, 4,
                 "\x7f"
                 "ELF");
  object[18] = static_cast<char>(224);
  EXPECT_EQ(diag_rocm::object_architecture(object), "");
  const std::string note =
      "amdhsa.target\xba"
      "amdgcn-amd-amdhsa--gfx90a:xnack-\xaf";
  EXPECT_EQ(diag_rocm::object_architecture(object + note), "gfx90a:xnack-");
  object[18] = 62;
  EXPECT_EQ(diag_rocm::object_architecture(object + note), "");
  EXPECT_EQ(diag_rocm::object_architecture(note), "");
}

TEST(hiprtc, a_library_that_is_none) {
  const temp_dir tree;
  const auto file = tree.write("libhiprtc.so.7", "no library");
  EXPECT_THROW(diag_rocm::hiprtc{file}, std::runtime_error);
}

TEST(hiprtc, found_beside_libtorch_first) {
  const temp_dir tree;
  tree.write("py/torch/lib/libhiprtc.so", "");
  tree.write("py/torch/lib/libhiprtc-builtins.so", "");
  tree.write("py/_rocm_sdk_core/lib/libhiprtc.so.7", "");
  tree.write("opt/rocm-7.1.0/lib/libhiprtc.so.7", "");
  tree.write("opt/rocm-7.10.0/lib/libhiprtc.so.7", "");
  const auto find = [&](const char* torch) {
    return diag_rocm::find_hiprtc({tree.path(), torch}, {}).file.lexically_relative(tree.path());
  };
  EXPECT_EQ(find("/py/torch"), "py/torch/lib/libhiprtc.so");
  std::filesystem::remove(tree.path() / "py/torch/lib/libhiprtc.so");
  EXPECT_EQ(find("/py/torch"), "py/_rocm_sdk_core/lib/libhiprtc.so.7");
  EXPECT_EQ(find(""), "opt/rocm-7.10.0/lib/libhiprtc.so.7");
}

}  // namespace
