// SPDX-License-Identifier: Apache-2.0
#include "diag_cuda/probes.hpp"

#include "answers.hpp"
#include "cuda_tree.hpp"
#include "diag_cuda/machine.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include <string>

namespace {

using test::cuda_tree;
using test::gist;

// ------------------------------------------------------------------ no NVIDIA GPU at all

TEST(cuda_probes, without_such_a_gpu_all_are_silent) {
  const cuda_tree tree;
  tree.pci("0000:03:00.0", "0x1002", "0x73ef", "0x030000", "amdgpu");
  // A sound device of NVIDIA's is no GPU.
  tree.pci("0000:04:00.1", "0x10de", "0x10f0", "0x040300", "snd_hda_intel");
  tree.torch("13.0");
  tree.file("/environment", "CUDA_VISIBLE_DEVICES=-1\n");
  tree.file("/var/log/kern.log", "kernel: NVRM: Xid (PCI:0000:01:00): 79, pid=1\n");
  for (const auto& probe : diag_cuda::all_probes()) {
    const auto answer = probe->look(tree.site());
    EXPECT_EQ(gist(answer), "unknown") << probe->id();
    EXPECT_EQ(answer.fact, "no NVIDIA GPU on the PCI bus") << probe->id();
  }
}

TEST(cuda_probes, without_a_readable_bus_they_say_so) {
  const cuda_tree tree;
  for (const auto& probe : diag_cuda::all_probes()) {
    const auto answer = probe->look(tree.site());
    EXPECT_EQ(gist(answer), "unknown") << probe->id();
    EXPECT_SAYS(answer, "the PCI bus cannot be read");
  }
}

TEST(cuda_probes, every_one_answers_on_this_machine) {
  for (const auto& probe : diag_cuda::all_probes()) {
    const auto answer = probe->look({});
    EXPECT_FALSE(answer.fact.empty()) << probe->id();
    std::string line = probe->id() + ": " + gist(answer) + " | " + answer.fact;
    for (const std::string& evidence : answer.evidence) {
      line += "\n    " + evidence;
    }
    std::printf("%s\n", line.c_str());
  }
}

// ------------------------------------------------------------------ cuda.devices

TEST(cuda_devices, a_healthy_machine) {
  const cuda_tree tree;
  tree.healthy();
  const auto answer = diag_cuda::look_at_devices(tree.site());
  EXPECT_EQ(gist(answer), "yes");
  EXPECT_SAYS(answer, "1 NVIDIA GPU (NVIDIA H200)");
  ASSERT_EQ(answer.evidence.size(), 2U);
  EXPECT_EQ(answer.evidence[0], "0000:01:00.0 10de:2335, driver nvidia");
}

TEST(cuda_devices, no_driver) {
  const cuda_tree tree;
  tree.h200("");
  const auto answer = diag_cuda::look_at_devices(tree.site());
  EXPECT_EQ(gist(answer), "no CUDA-NO-DEVICE");
  EXPECT_SAYS(answer, "modprobe nvidia");
}

TEST(cuda_devices, without_driver_beside_an_amd_gpu) {
  const cuda_tree tree;
  tree.h200("");
  const auto alone = diag_cuda::look_at_devices(tree.site());
  EXPECT_EQ(gist(alone), "no CUDA-NO-DEVICE");
  EXPECT_SAYS(alone, "no LibTorch is known here");
  tree.pci("0000:03:00.0", "0x1002", "0x73ef", "0x030000", "amdgpu");
  const auto beside = diag_cuda::look_at_devices(tree.site());
  EXPECT_EQ(gist(beside), "no");
  EXPECT_SAYS(beside, "only a CUDA build of LibTorch would miss it");
  tree.torch("13.0");
  EXPECT_EQ(gist(diag_cuda::look_at_devices(tree.site())), "no CUDA-NO-DEVICE");
}

TEST(cuda_devices, another_driver_has_it) {
  const cuda_tree nouveau;
  nouveau.h200("nouveau");
  EXPECT_SAYS(diag_cuda::look_at_devices(nouveau.site()), "nouveau");
  const cuda_tree passed;
  passed.h200("vfio-pci");
  const auto answer = diag_cuda::look_at_devices(passed.site());
  EXPECT_EQ(gist(answer), "no CUDA-NO-DEVICE");
  EXPECT_SAYS(answer, "virtual machine");
}

TEST(cuda_devices, a_container_started_without_gpus) {
  const cuda_tree tree;
  tree.h200();
  tree.driver("580.95.05");
  const auto answer = diag_cuda::look_at_devices(tree.site());
  EXPECT_EQ(gist(answer), "no CUDA-NO-DEVICE");
  EXPECT_SAYS(answer, "/dev/nvidiactl is not there");
  EXPECT_SAYS(answer, "--gpus all");
}

TEST(cuda_devices, the_node_of_unified_memory_may_be_made_later) {
  const cuda_tree tree;
  tree.healthy();
  std::filesystem::remove(tree.at("/dev/nvidia-uvm"));
  const auto missing = diag_cuda::look_at_devices(tree.site());
  EXPECT_EQ(gist(missing), "no CUDA-NO-DEVICE");
  EXPECT_SAYS(missing, "modprobe nvidia-uvm");
  tree.file("/usr/bin/nvidia-modprobe");
  EXPECT_EQ(gist(diag_cuda::look_at_devices(tree.site())), "yes");
}

TEST(cuda_devices, a_gpu_that_every_program_is_denied_is_of_no_use) {
  const cuda_tree tree;
  tree.healthy();
  tree.file("/environment", "CUDA_VISIBLE_DEVICES=-1\n");
  const auto answer = diag_cuda::look_at_devices(tree.site());
  EXPECT_EQ(gist(answer), "no CUDA-ENV-HIDES-GPUS");
  EXPECT_SAYS(answer, "every GPU is hidden");
  EXPECT_EQ(answer.evidence.front(), "CUDA_VISIBLE_DEVICES=-1");
}

TEST(cuda_devices, wsl) {
  const cuda_tree tree;
  tree.file("/proc/version", "Linux version 6.6.87-microsoft-standard-WSL2");
  tree.file("/dev/dxg");
  EXPECT_EQ(gist(diag_cuda::look_at_devices(tree.site())), "unknown");
  tree.file("/usr/lib/wsl/lib/libcuda.so.1");
  const auto answer = diag_cuda::look_at_devices(tree.site());
  EXPECT_EQ(gist(answer), "yes");
  EXPECT_SAYS(answer, "WSL");
}

TEST(cuda_devices, versions_in_the_drivers_own_line) {
  EXPECT_EQ(diag_cuda::driver_version_in("NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.57.02"
                                         "  Tue Jul 13 16:14:05 UTC 2021"),
            "470.57.02");
  EXPECT_EQ(diag_cuda::driver_version_in("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  "
                                         "575.57  Release Build  (u@h)"),
            "575.57");
  EXPECT_EQ(diag_cuda::driver_version_in("NVRM version: nothing"), "");
}

// ------------------------------------------------------------------ cuda.driver

TEST(cuda_driver, new_enough_and_too_old) {
  struct {
    const char *driver, *cuda, *expected;
  } const cases[] = {
      {"580.95.05", "13.0", "yes"},
      {"580.65.06", "13.2", "yes"},  // one driver does for all of a major version
      {"575.57.08", "13.0", "no CUDA-DRIVER-OLD"},
      {"575.57.08", "12.9", "yes"},
      {"525.60.13", "12.8", "yes"},
      {"520.61.05", "12.1", "no CUDA-DRIVER-OLD"},
      {"450.80.02", "11.8", "yes"},
      {"450.51", "11.0", "no CUDA-DRIVER-OLD"},
      {"440.33", "10.2", "yes"},
      {"418.39", "10.2", "no CUDA-DRIVER-OLD"},
      {"610.10", "14.0", "unknown"},  // a CUDA that this table does not have
  };
  for (const auto& one : cases) {
    const cuda_tree tree;
    tree.healthy(one.driver);
    tree.torch(one.cuda);
    const auto answer = diag_cuda::look_at_driver(tree.site());
    EXPECT_EQ(gist(answer), one.expected) << one.driver << " " << one.cuda << ": " << answer.fact;
    EXPECT_EQ(test::value_of(answer, "driver"), one.driver);
    EXPECT_EQ(test::value_of(answer, "runtime"), one.cuda);
  }
}

TEST(cuda_driver, the_runtime_is_also_known_by_its_library) {
  const cuda_tree tree;
  tree.healthy("575.57.08");
  tree.torch("13.0");
  std::filesystem::remove(tree.at("/torch/version.py"));
  tree.file("/torch/lib/libcudart-d0da41ae.so.12.4.127");
  EXPECT_EQ(gist(diag_cuda::look_at_driver(tree.site())), "yes");
  std::filesystem::remove(tree.at("/torch/lib/libcudart-d0da41ae.so.12.4.127"));
  test::fake_elf{.needed = {"libc10.so", "libcudart.so.13"}}.write(
      tree.at("/torch/lib/libtorch_cuda.so"));
  const auto answer = diag_cuda::look_at_driver(tree.site());
  EXPECT_EQ(gist(answer), "no CUDA-DRIVER-OLD");
  EXPECT_EQ(answer.evidence.front(), "libtorch_cuda.so needs libcudart.so.13");
}

TEST(cuda_driver, module_and_library_of_two_versions) {
  const cuda_tree tree;
  tree.h200();
  tree.driver("575.57.08");
  tree.nodes();
  tree.library("580.95.05");
  tree.torch("12.8");
  const auto answer = diag_cuda::look_at_driver(tree.site());
  EXPECT_EQ(gist(answer), "no CUDA-DRIVER-MISMATCH");
  EXPECT_SAYS(answer, "restart");
}

TEST(cuda_driver, other_builds_have_no_such_question) {
  const cuda_tree tree;
  tree.healthy();
  EXPECT_SAYS(diag_cuda::look_at_driver({.root = tree.root()}), "folder is not known");
  EXPECT_SAYS(diag_cuda::look_at_driver(tree.site()), "no LibTorch in");
  tree.file("/torch/lib/libtorch_cpu.so");
  const auto cpu = diag_cuda::look_at_driver(tree.site());
  EXPECT_EQ(gist(cpu), "unknown");
  EXPECT_SAYS(cpu, "a CPU build; the NVIDIA driver is 580.95.05");
  tree.file("/torch/lib/libtorch_hip.so");
  EXPECT_SAYS(diag_cuda::look_at_driver(tree.site()), "a ROCm build");
}

// ------------------------------------------------------------------ cuda.capability

TEST(cuda_capability, code_for_this_gpu_or_none) {
  struct {
    std::vector<test::gpu_target> targets;
    const char *gpu, *expected;
  } const cases[] = {
      {{{2, 75}, {2, 80}, {2, 90}}, "sm_90", "yes"},
      {{{2, 75}, {2, 80}, {2, 90}}, "sm_86", "yes"},  // machine code of 8.0
      {{{2, 75}, {2, 80}, {2, 90}}, "sm_70", "no CUDA-NO-KERNEL-IMAGE"},
      {{{2, 75}, {2, 80}, {2, 90}}, "sm_120", "no CUDA-NO-KERNEL-IMAGE"},
      {{{2, 75}, {1, 90}}, "sm_120", "yes"},  // PTX
      {{{1, 90}}, "sm_80", "no CUDA-NO-KERNEL-IMAGE"},
      {{{2, 86}}, "sm_80", "no CUDA-NO-KERNEL-IMAGE"},
      {{{2, 90}}, "sm_90a", "yes"},
  };
  for (const auto& one : cases) {
    const cuda_tree tree;
    tree.healthy();
    tree.torch("13.0", one.targets);
    const auto answer = diag_cuda::look_at_capability(tree.site(one.gpu));
    EXPECT_EQ(gist(answer), one.expected) << one.gpu << ": " << answer.fact;
  }
}

TEST(cuda_capability, an_architecture_can_be_asked_about_without_its_gpu) {
  const cuda_tree tree;
  tree.torch("13.0");
  EXPECT_EQ(gist(diag_cuda::look_at_capability(tree.site("sm_90"))), "yes");
  EXPECT_EQ(gist(diag_cuda::look_at_capability(tree.site("gfx1032"))), "unknown");
}

TEST(cuda_capability, without_a_known_gpu_it_lists_what_is_there) {
  const cuda_tree tree;
  tree.healthy();
  tree.torch("13.0");
  const auto answer = diag_cuda::look_at_capability(tree.site());
  EXPECT_EQ(gist(answer), "unknown");
  EXPECT_EQ(test::value_of(answer, "targets"), "sm_75 sm_80 sm_90");
}

TEST(cuda_capability, what_only_a_few_kernels_have_does_not_count) {
  const cuda_tree tree;
  tree.healthy();
  tree.torch("13.0");
  std::string section;
  for (int i = 0; i < 100; ++i) {
    section += test::fake_fatbin({{2, 80}});
  }
  section += test::fake_fatbin({{2, 80}, {2, 90}});
  test::fake_elf{.sections = {{".nv_fatbin", section}}}.write(
      tree.at("/torch/lib/libtorch_cuda.so"));
  const auto answer = diag_cuda::look_at_capability(tree.site("sm_90"));
  EXPECT_EQ(gist(answer), "no CUDA-NO-KERNEL-IMAGE");
  EXPECT_EQ(test::value_of(answer, "targets"), "sm_80");
}

TEST(cuda_capability, a_damaged_section_is_no_proof) {
  const cuda_tree tree;
  tree.healthy();
  tree.torch("13.0");
  std::string damaged = test::fake_fatbin({{2, 80}});
  damaged += std::string(100000, 'x');
  test::fake_elf{.sections = {{".nv_fatbin", damaged}}}.write(
      tree.at("/torch/lib/libtorch_cuda.so"));
  const auto answer = diag_cuda::look_at_capability(tree.site("sm_90"));
  EXPECT_EQ(gist(answer), "unknown");
  EXPECT_SAYS(answer, "form that is not known");
  test::fake_elf{}.write(tree.at("/torch/lib/libtorch_cuda.so"));
  EXPECT_SAYS(diag_cuda::look_at_capability(tree.site("sm_90")), "no section .nv_fatbin");
}

// A real CUDA wheel's library, where one is named.
TEST(cuda_capability, reads_a_real_library) {
  const char* torch = std::getenv("ASSAY_TEST_CUDA_TORCH_DIR");
  if (torch == nullptr) {
    GTEST_SKIP() << "ASSAY_TEST_CUDA_TORCH_DIR names no LibTorch of CUDA";
  }
  const auto answer = diag_cuda::look_at_capability({.torch_dir = torch, .architecture = "sm_90"});
  std::printf("%s | %s\n", gist(answer).c_str(), answer.fact.c_str());
  EXPECT_EQ(gist(answer), "yes");
  EXPECT_EQ(gist(diag_cuda::look_at_capability({.torch_dir = torch, .architecture = "sm_30"})),
            "no CUDA-NO-KERNEL-IMAGE");
}

// ------------------------------------------------------------------ cuda.hints, cuda.xid

TEST(cuda_hints, persistence_and_mps) {
  const cuda_tree tree;
  tree.healthy();
  EXPECT_EQ(gist(diag_cuda::look_at_hints(tree.site())), "unknown");
  tree.file("/run/nvidia-persistenced/socket");
  EXPECT_EQ(gist(diag_cuda::look_at_hints(tree.site())), "yes");
  tree.file("/tmp/nvidia-mps/control");
  EXPECT_EQ(gist(diag_cuda::look_at_hints(tree.site())), "no CUDA-MPS");
  tree.file("/environment", "CUDA_MPS_PIPE_DIRECTORY=/elsewhere\n");
  EXPECT_EQ(gist(diag_cuda::look_at_hints(tree.site())), "yes");
}

TEST(cuda_xid, reports_are_sorted_by_whose_fault_they_are) {
  const cuda_tree tree;
  tree.healthy();
  EXPECT_EQ(gist(diag_cuda::look_at_kernel_log(tree.site())), "unknown");
  const std::string start = "Nov 30 06:00:00 host kernel: Linux version 6.8.0-45-generic\n";
  const std::string reset =
      "Nov 30 07:00:00 host kernel: NVRM: Xid (PCI:0000:01:00): 79, pid='<unk"
      "nown>', name=<unknown>, GPU has fallen off the bus.\n";
  const std::string fault =
      "Nov 30 07:00:01 host kernel: NVRM: Xid (PCI:0000:01:00): 31, pid=42, "
      "name=python3, Ch 00000008, intr 00000000. MMU Fault\n";
  tree.file("/var/log/kern.log", start + "Nov 30 06:00:01 host kernel: nvidia loaded\n");
  EXPECT_EQ(gist(diag_cuda::look_at_kernel_log(tree.site())), "yes");
  tree.file("/var/log/kern.log", start + fault);
  const auto application = diag_cuda::look_at_kernel_log(tree.site());
  EXPECT_EQ(gist(application), "no CUDA-XID-APPLICATION");
  EXPECT_SAYS(application, "1 fault report in /var/log/kern.log: Xid 31");
  tree.file("/var/log/kern.log", start + reset + fault);
  const auto hardware = diag_cuda::look_at_kernel_log(tree.site());
  EXPECT_EQ(gist(hardware), "no CUDA-XID-HARDWARE");
  ASSERT_EQ(hardware.evidence.size(), 1U);
  EXPECT_NE(hardware.evidence[0].find("fallen off the bus"), std::string::npos);
  // A number that no list has is nobody's fault.
  const std::string note = "Nov 30 07:00:02 host kernel: NVRM: Xid (PCI:0000:01:00): 999, pid=42\n";
  tree.file("/var/log/kern.log", start + note);
  EXPECT_EQ(gist(diag_cuda::look_at_kernel_log(tree.site())), "no CUDA-XID-OTHER");
  tree.file("/var/log/kern.log", start + fault + note);
  EXPECT_EQ(gist(diag_cuda::look_at_kernel_log(tree.site())), "no CUDA-XID-APPLICATION");
  // Before the last start: no longer true.
  tree.file("/var/log/kern.log", start + reset + start);
  EXPECT_EQ(gist(diag_cuda::look_at_kernel_log(tree.site())), "yes");
}

}  // namespace
