// SPDX-License-Identifier: Apache-2.0
//
// What LibTorch's libraries need, in trees whose libraries are only as much as their headers.
#include "diag_system/probes.hpp"
#include "diag_system/search.hpp"

#include "answers.hpp"
#include "fake_elf.hpp"
#include "temporary_tree.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace {

using test::fake_elf;
using test::gist;

class torch_tree : public test::temporary_tree {
 public:
  [[nodiscard]] assay::probe_site site() const {
    return {.root = root(), .torch_dir = at("/venv/torch")};
  }
  /// A machine on which LibTorch loads, with a GPU of either vendor.
  void healthy() const {
    file("/proc/driver/nvidia/version", "");
    file("/dev/kfd", "");
    fake_elf{.soname = "libc.so.6", .version_definitions = {"GLIBC_2.17", "GLIBC_2.36"}}.write(
        at("/lib/x86_64-linux-gnu/libc.so.6"));
    fake_elf{.soname = "libstdc++.so.6",
             .needed = {"libc.so.6"},
             .version_definitions = {"GLIBCXX_3.4.9", "GLIBCXX_3.4.30", "CXXABI_1.3"}}
        .write(at("/usr/lib/x86_64-linux-gnu/libstdc++.so.6"));
    library("libc10.so", {.soname = "libc10.so", .needed = {"libstdc++.so.6", "libc.so.6"}});
    library("libtorch_cpu.so",
            {.soname = "libtorch_cpu.so",
             .rpath = "$ORIGIN/../../nvidia/lib:$ORIGIN",
             .needed = {"libc10.so", "libstdc++.so.6", "libc.so.6"},
             .version_needs = {{"libc.so.6", {"GLIBC_2.14", "GLIBC_2.28"}},
                               {"libstdc++.so.6", {"GLIBCXX_3.4.22", "GLIBCXX_3.4.9"}}}});
  }
  void library(const std::string& name, const fake_elf& content) const {
    content.write(at("/venv/torch/lib/" + name));
  }
};

// ------------------------------------------------------------------ system.linker

TEST(system_linker, all_is_there) {
  const torch_tree tree;
  tree.healthy();
  const auto answer = diag_system::look_at_linker(tree.site());
  EXPECT_EQ(gist(answer), "yes");
  EXPECT_SAYS(answer, "all 4 libraries");
}

TEST(system_linker, the_first_that_is_missing_and_who_needs_it) {
  const torch_tree tree;
  tree.healthy();
  tree.library("libtorch_cuda.so",
               {.soname = "libtorch_cuda.so",
                .needed = {"libtorch_cpu.so", "libcusparse.so.12", "libcudnn.so.9"}});
  const auto answer = diag_system::look_at_linker(tree.site());
  EXPECT_EQ(gist(answer), "no CUDA-LIBRARY-MISSING");
  EXPECT_EQ(answer.fact,
            "libcusparse.so.12 is not found, and libtorch_cuda.so needs it (and 1 more)");
  EXPECT_EQ(test::value_of(answer, "missing"), "libcusparse.so.12");
  EXPECT_EQ(answer.evidence.size(), 2U);
}

TEST(system_linker, what_no_gpu_needs_is_no_fault) {
  for (const char* name : {"libcudnn.so.9", "libamdhip64.so.7"}) {
    const torch_tree tree;
    tree.healthy();
    std::filesystem::remove_all(tree.at("/proc"));
    std::filesystem::remove_all(tree.at("/dev"));
    tree.library("libtorch_hip.so", {.needed = {name}});
    const auto answer = diag_system::look_at_linker(tree.site());
    EXPECT_EQ(gist(answer), "no") << name;
    EXPECT_SAYS(answer, "no GPU is here that would need it");
    const bool nvidia = std::string_view(name).starts_with("libcu");
    tree.file("/sys/bus/pci/devices/0000:03:00.0/vendor", nvidia ? "0x10de\n" : "0x1002\n");
    tree.file("/sys/bus/pci/devices/0000:03:00.0/class", "0x030000\n");
    EXPECT_EQ(gist(diag_system::look_at_linker(tree.site())),
              nvidia ? "no CUDA-LIBRARY-MISSING" : "no ROCM-LIBRARY-MISSING");
  }
}

TEST(system_linker, whose_library_it_is) {
  for (const auto& [name, code] : {std::pair{"libamdhip64.so.7", "no ROCM-LIBRARY-MISSING"},
                                   {"libMIOpen.so.1", "no ROCM-LIBRARY-MISSING"},
                                   {"libnccl.so.2", "no CUDA-LIBRARY-MISSING"},
                                   {"libgomp.so.1", "no SYSTEM-LIBRARY-MISSING"}}) {
    const torch_tree tree;
    tree.healthy();
    tree.library("libtorch_hip.so", {.needed = {name}});
    EXPECT_EQ(gist(diag_system::look_at_linker(tree.site())), code) << name;
  }
}

TEST(system_linker, folders_are_searched_as_the_loader_does) {
  const torch_tree tree;
  tree.healthy();
  // The RPATH of what brought a library counts for it as well, unless it has a RUNPATH of its own.
  tree.library("libtorch_cpu.so",
               {.rpath = "$ORIGIN/../../nvidia/lib:$ORIGIN", .needed = {"libfirst.so"}});
  fake_elf{.needed = {"libsecond.so"}}.write(tree.at("/venv/nvidia/lib/libfirst.so"));
  fake_elf{}.write(tree.at("/venv/nvidia/lib/libsecond.so"));
  EXPECT_EQ(gist(diag_system::look_at_linker(tree.site())), "yes");
  fake_elf{.runpath = "/nowhere", .needed = {"libsecond.so"}}.write(
      tree.at("/venv/nvidia/lib/libfirst.so"));
  EXPECT_EQ(gist(diag_system::look_at_linker(tree.site())), "no SYSTEM-LIBRARY-MISSING");
  // LD_LIBRARY_PATH of the tree.
  tree.file("/environment", "LD_LIBRARY_PATH=/else/where:/venv/nvidia/lib\n");
  EXPECT_EQ(gist(diag_system::look_at_linker(tree.site())), "yes");
  tree.file("/environment", "");
  // ld.so.conf with its included files.
  tree.file("/etc/ld.so.conf", "# comment\ninclude /etc/ld.so.conf.d/*.conf\n");
  tree.file("/etc/ld.so.conf.d/10-x.conf", "/venv/nvidia/lib\n");
  EXPECT_EQ(gist(diag_system::look_at_linker(tree.site())), "yes");
}

TEST(system_linker, a_library_for_other_machines_is_passed_over) {
  const torch_tree tree;
  tree.healthy();
  tree.library("libtorch_cpu.so", {.needed = {"libz.so.1"}});
  std::string narrow = fake_elf{}.build();
  narrow[4] = 1;
  tree.file("/usr/lib/libz.so.1", narrow);
  EXPECT_EQ(gist(diag_system::look_at_linker(tree.site())), "no SYSTEM-ELF-CLASS");
  fake_elf{.machine = 183}.write(tree.at("/usr/lib/libz.so.1"));
  EXPECT_EQ(gist(diag_system::look_at_linker(tree.site())), "no SYSTEM-ELF-CLASS");
  fake_elf{}.write(tree.at("/lib64/libz.so.1"));
  EXPECT_EQ(gist(diag_system::look_at_linker(tree.site())), "yes");
}

TEST(system_linker, a_damaged_library_is_named) {
  const torch_tree tree;
  tree.healthy();
  tree.library("libtorch_cpu.so", {.needed = {"libz.so.1"}});
  tree.file("/usr/lib/libz.so.1", "a page that says 404");
  const auto answer = diag_system::look_at_linker(tree.site());
  EXPECT_EQ(gist(answer), "no SYSTEM-LIBRARY-MISSING");
  EXPECT_SAYS(answer, "is not an ELF file");
}

TEST(system_linker, circles_end) {
  const torch_tree tree;
  tree.library("libtorch_cpu.so", {.runpath = "$ORIGIN", .needed = {"libtorch_a.so"}});
  tree.library("libtorch_a.so", {.runpath = "$ORIGIN", .needed = {"libtorch_cpu.so"}});
  EXPECT_EQ(gist(diag_system::look_at_linker(tree.site())), "yes");
}

TEST(system_linker, without_libtorch_there_is_no_answer) {
  const torch_tree tree;
  EXPECT_SAYS(diag_system::look_at_linker({.root = tree.root()}), "folder is not known");
  EXPECT_SAYS(diag_system::look_at_linker(tree.site()), "no LibTorch for Linux");
}

// ------------------------------------------------------------------ system.glibc, libstdcxx

TEST(system_glibc, new_enough_and_too_old) {
  const torch_tree tree;
  tree.healthy();
  const auto good = diag_system::look_at_glibc(tree.site());
  EXPECT_EQ(gist(good), "yes");
  EXPECT_EQ(good.fact, "glibc is 2.36, LibTorch needs 2.28");
  tree.library("libtorch_hip.so", {.version_needs = {{"libm.so.6", {"GLIBC_2.38"}}}});
  const auto bad = diag_system::look_at_glibc(tree.site());
  EXPECT_EQ(gist(bad), "no SYSTEM-GLIBC-OLD");
  EXPECT_EQ(bad.fact, "glibc is 2.36, and libtorch_hip.so needs 2.38 or newer");
}

TEST(system_glibc, versions_are_compared_as_numbers) {
  const torch_tree tree;
  tree.healthy();
  tree.library("libtorch_hip.so",
               {.version_needs = {{"libc.so.6", {"GLIBC_2.4", "GLIBC_ABI_DT_RELR"}}}});
  EXPECT_EQ(gist(diag_system::look_at_glibc(tree.site())), "yes");
}

TEST(system_glibc, what_is_not_there_is_not_judged) {
  const torch_tree tree;
  EXPECT_EQ(gist(diag_system::look_at_glibc(tree.site())), "unknown");
  tree.healthy();
  const auto answer = diag_system::look_at_glibc({.root = tree.root()});
  EXPECT_EQ(gist(answer), "unknown");
  EXPECT_SAYS(answer, "glibc is 2.36");
}

TEST(system_libstdcxx, the_one_that_is_found_first_counts) {
  const torch_tree tree;
  tree.healthy();
  EXPECT_EQ(gist(diag_system::look_at_libstdcxx(tree.site())), "yes");
  fake_elf{.soname = "libstdc++.so.6", .version_definitions = {"GLIBCXX_3.4.9", "GLIBCXX_3.4.21"}}
      .write(tree.at("/opt/old/lib/libstdc++.so.6"));
  tree.file("/environment", "LD_LIBRARY_PATH=/opt/old/lib\n");
  const auto answer = diag_system::look_at_libstdcxx(tree.site());
  EXPECT_EQ(gist(answer), "no SYSTEM-GLIBCXX-OLD");
  EXPECT_SAYS(answer, "/opt/old/lib/libstdc++.so.6, offers GLIBCXX_3.4.21");
  EXPECT_SAYS(answer, "libtorch_cpu.so needs 3.4.22");
}

// ------------------------------------------------------------------ real files

TEST(system_libraries, a_real_program_of_this_machine_finds_its_libraries) {
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  const auto all = diag_system::load_closure({}, {self});
  for (const auto& missing : all.missing) {
    ADD_FAILURE() << missing.needed_by << " needs " << missing.name;
  }
  EXPECT_GT(all.libraries.size(), 3U);
}

TEST(system_libraries, a_real_libtorch) {
  const char* torch = std::getenv("ASSAY_TEST_CUDA_TORCH_DIR");
  if (torch == nullptr) {
    GTEST_SKIP() << "ASSAY_TEST_CUDA_TORCH_DIR names no LibTorch of CUDA";
  }
  for (const auto& probe : diag_system::all_probes()) {
    const auto answer = probe->look({.torch_dir = torch});
    std::printf("%s: %s | %s\n", probe->id().c_str(), gist(answer).c_str(), answer.fact.c_str());
    EXPECT_FALSE(answer.fact.empty());
  }
}

}  // namespace
