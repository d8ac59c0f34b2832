// SPDX-License-Identifier: Apache-2.0
#include "machine.hpp"

#include <gtest/gtest.h>

#include "asked.hpp"
#include "probes.hpp"
#include "targets.hpp"

namespace diag_rocm::testing {

namespace {

using assay::probe_state;

TEST(target_names, are_decimal_major_and_hexadecimal_rest) {
  EXPECT_EQ(target_name(100302), "gfx1032");
  EXPECT_EQ(target_name(90010), "gfx90a");
  EXPECT_EQ(target_name(90012), "gfx90c");
  EXPECT_EQ(target_name(90402), "gfx942");
  EXPECT_EQ(target_name(90500), "gfx950");
  EXPECT_EQ(target_name(110003), "gfx1103");
  EXPECT_EQ(target_name(110501), "gfx1151");
  EXPECT_EQ(target_name(120001), "gfx1201");
  EXPECT_EQ(target_name(80003), "gfx803");
}

TEST(topology, leaves_out_processors_and_sorts_by_number) {
  const made_machine m(
      "cpu 0\n"
      "gpu 10 gfx=110000 minor=129 pci=0000:0a:00.0\n"
      "gpu 2 gfx=90010 simd=416 per_cu=4\n");
  const machine found = look_at(m.site());
  ASSERT_EQ(found.gpus.size(), 2U);
  EXPECT_EQ(found.gpus[0].node, 2);
  EXPECT_EQ(found.gpus[0].compute_units, 104U);
  EXPECT_EQ(found.gpus[1].pci, "0000:0a:00.0");
  EXPECT_EQ(found.architectures(), "gfx90a, gfx1100");
}

TEST(topology, bears_a_node_without_the_newer_properties) {
  const made_machine m("gpu 1 gfx=none per_cu=0\n");
  const auto answer = m.ask(make_kfd_present());
  EXPECT_EQ(answer.state, probe_state::yes);
  EXPECT_EQ(answer.fact, "AMD GPU, 8.0 GiB");
}

TEST(topology, of_a_node_with_processor_cores_and_a_gpu_is_an_integrated_one) {
  const made_machine m("gpu 0 gfx=130001 cores=8\n");
  EXPECT_TRUE(look_at(m.site()).gpus.at(0).integrated);
}

TEST(topology, bears_rubbish) {
  const made_machine m(
      "/sys/class/kfd/kfd/topology/nodes/1/gpu_id = 7\n"
      "/sys/class/kfd/kfd/topology/nodes/1/properties\n"
      "| simd_count\n"
      "| gfx_target_version -1\n"
      "| simd_per_cu 99999999999999999999999\n"
      "| drm_render_minor 128 129\n");
  const machine found = look_at(m.site());
  ASSERT_EQ(found.gpus.size(), 1U);
  EXPECT_EQ(found.gpus[0].architecture, "");
}

TEST(module, that_is_still_being_loaded_is_not_live) {
  const made_machine m("like rx6650xt\n/sys/module/amdgpu/initstate = coming\n");
  const auto answer = m.ask(make_amdgpu_module());
  EXPECT_EQ(answer.state, probe_state::no);
  EXPECT_TRUE(finds(answer, "ROCM-NO-DRIVER"));
}

TEST(module, that_is_part_of_the_kernel_is_live) {
  const made_machine m("like rx6650xt\nremove /sys/module/amdgpu\n/sys/module/amdgpu/\n");
  EXPECT_EQ(m.ask(make_amdgpu_module()).state, probe_state::yes);
}

TEST(module, may_be_kept_out_by_the_command_line) {
  const made_machine m(
      "like no_driver\n/proc/cmdline = ro modprobe.blacklist=nouveau,amdgpu quiet\n");
  EXPECT_TRUE(says(m.ask(make_amdgpu_module()), "kept out by /proc/cmdline"));
}

TEST(no_gpu, is_a_fault_only_where_something_wants_one) {
  const made_machine without("like linux\n");
  EXPECT_TRUE(without.ask(make_kfd_present()).findings.empty());
  made_machine wheel("like linux\n/torch/lib/libtorch_hip.so\n");
  wheel.site().torch_dir = wheel.site().root / "torch";
  EXPECT_TRUE(finds(wheel.ask(make_kfd_present()), "ROCM-NO-GPU"));
}

TEST(no_gpu, is_none_beside_an_nvidia_gpu) {
  const std::string nvidia =
      "/sys/bus/pci/devices/0000:01:00.0/vendor = 0x10de\n"
      "/sys/bus/pci/devices/0000:01:00.0/class = 0x030000\n";
  const made_machine leftover("like linux\n/opt/rocm-7.2.0/\n" + nvidia);
  const auto answer = leftover.ask(make_kfd_present());
  EXPECT_EQ(answer.state, probe_state::no);
  EXPECT_TRUE(answer.findings.empty());
  EXPECT_TRUE(says(answer, "no fault, and /opt/rocm-7.2.0 is merely left over")) << answer.fact;
  made_machine wheel("like linux\n/torch/lib/libtorch_hip.so\n" + nvidia);
  wheel.site().torch_dir = wheel.site().root / "torch";
  const auto wrong = wheel.ask(make_kfd_present());
  EXPECT_TRUE(finds(wrong, "ROCM-NO-GPU"));
  EXPECT_NE(value_in(wrong, "advice_instead").find("CUDA build"), std::string::npos);
}

TEST(no_gpu, advises_nothing_about_rights) {
  const made_machine m("like no_gpu\n");
  const std::string steps = value_in(m.ask(make_kfd_present()), "advice_instead");
  EXPECT_NE(steps.find("$ lspci"), std::string::npos);
  EXPECT_EQ(steps.find("usermod"), std::string::npos);
}

TEST(bus, tells_drivers_apart) {
  const auto code = [](const std::string& driver) {
    const made_machine m("like linux\ngpu none driver=" + driver + "\n");
    const auto answer = m.ask(make_kfd_present());
    EXPECT_EQ(answer.state, probe_state::no);
    return answer.findings.at(0);
  };
  EXPECT_EQ(code("none"), "ROCM-NO-DRIVER");
  EXPECT_EQ(code("vfio-pci"), "ROCM-GPU-PASSTHROUGH");
  EXPECT_EQ(code("radeon"), "ROCM-GPU-TOO-OLD");
  EXPECT_EQ(code("amdgpu"), "ROCM-KFD-MISSING");
}

TEST(iommu, matters_between_discrete_gpus_only) {
  const std::string second = "gpu 2 gfx=110000 pci=0000:0a:00.0 minor=129 ";
  const auto state = [&](const std::string& lines) {
    const made_machine m("like rx6650xt\n" + lines);
    return m.ask(make_iommu()).state;
  };
  EXPECT_EQ(state(""), probe_state::yes);
  EXPECT_EQ(state(second), probe_state::yes);  // no group: the IOMMU is off
  EXPECT_EQ(state(second + "iommu=identity\n"), probe_state::yes);
  EXPECT_EQ(state(second + "iommu=DMA\n"), probe_state::no);
  EXPECT_EQ(state("gpu 2 gfx=100306 pci=0000:0a:00.0 minor=129 iommu=DMA\n"), probe_state::yes);
  const std::string unsaid = second + "\n/sys/bus/pci/devices/0000:0a:00.0/iommu_group/\n";
  EXPECT_EQ(state(unsaid), probe_state::unknown);
  EXPECT_EQ(state(unsaid + "/proc/cmdline = ro iommu=pt\n"), probe_state::yes);
}

TEST(large_bar, reads_an_integrated_gpu_as_carve_out_and_gtt) {
  const made_machine m("gpu 1 gfx=110501 vram=536870912 visible=268435456 gtt=67108864000\n");
  const auto answer = m.ask(make_large_bar());
  EXPECT_EQ(answer.state, probe_state::yes);
  EXPECT_TRUE(says(answer, "512 MiB carved out")) << answer.fact;
  EXPECT_TRUE(says(answer, "62.5 GiB of system memory")) << answer.fact;
}

}  // namespace

}  // namespace diag_rocm::testing
