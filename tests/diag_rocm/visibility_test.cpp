// SPDX-License-Identifier: Apache-2.0
#include "visibility.hpp"

#include <gtest/gtest.h>

#include "asked.hpp"
#include "probes.hpp"

namespace diag_rocm::testing {

namespace {

using assay::probe_state;

const std::string four =
    "gpu 1 gfx=90402 unique=0x1111111111111111 minor=128\n"
    "gpu 2 gfx=90402 unique=0x2222222222222222 minor=129\n"
    "gpu 3 gfx=90402 unique=0x3333333333333333 minor=130\n"
    "gpu 4 gfx=90402 unique=0x4444444444444444 minor=131\n";

std::string left(const environment& variables, system_kind system = system_kind::linux_os) {
  const made_machine m(four);
  const visibility seen = visible_gpus(look_at(m.site()).gpus, variables, system);
  std::string nodes;
  for (const gpu& g : seen.left) {
    nodes += (nodes.empty() ? "" : " ") + std::to_string(g.node);
  }
  return nodes + (seen.problems.empty() ? "" : " !");
}

TEST(visibility, filters_in_the_order_of_the_runtimes) {
  EXPECT_EQ(left({}), "1 2 3 4");
  EXPECT_EQ(left({{"HIP_VISIBLE_DEVICES", "2,0"}}), "3 1");
  EXPECT_EQ(left({{"ROCR_VISIBLE_DEVICES", "1,3"}}), "2 4");
  EXPECT_EQ(left({{"ROCR_VISIBLE_DEVICES", "1,3"}, {"HIP_VISIBLE_DEVICES", "1"}}), "4");
  EXPECT_EQ(left({{"ROCR_VISIBLE_DEVICES", "GPU-2222222222222222"}}), "2");
  EXPECT_EQ(left({{"HIP_VISIBLE_DEVICES", " 1 , 2 "}}), "2 3");
  EXPECT_EQ(left({{"HIP_VISIBLE_DEVICES", "0"}, {"CUDA_VISIBLE_DEVICES", "3"}}), "1");
}

TEST(visibility, notes_what_does_not_do_what_it_seems_to) {
  EXPECT_EQ(left({{"ROCR_VISIBLE_DEVICES", "3"}, {"HIP_VISIBLE_DEVICES", "3"}}), " !");
  EXPECT_EQ(left({{"HIP_VISIBLE_DEVICES", "0,7,1"}}), "1 !");
  EXPECT_EQ(left({{"HIP_VISIBLE_DEVICES", "0,0"}}), " !");
  EXPECT_EQ(left({{"HIP_VISIBLE_DEVICES", ""}}), "1 2 3 4 !");
  EXPECT_EQ(left({{"CUDA_VISIBLE_DEVICES", "-1"}}), " !");
  EXPECT_EQ(left({{"CUDA_VISIBLE_DEVICES", "GPU-8f6c1e6a-6f1d"}}), " !");
  EXPECT_EQ(left({{"ROCR_VISIBLE_DEVICES", "0"}, {"HIP_VISIBLE_DEVICES", "0,1"}}), "1 !");
  EXPECT_EQ(left({{"HIP_VISIBLE_DEVICES", "gfx942"}}), " !");
}

TEST(visibility, does_not_know_the_hsa_runtimes_variable_on_windows) {
  EXPECT_EQ(left({{"ROCR_VISIBLE_DEVICES", "1"}}, system_kind::windows), "1 2 3 4");
}

TEST(visible_devices, says_how_many_are_left) {
  const made_machine m(four);
  const auto answer = m.ask(make_visible_devices(given({{"HIP_VISIBLE_DEVICES", "0,1"}})));
  EXPECT_EQ(answer.state, probe_state::yes);
  EXPECT_EQ(answer.fact, "HIP_VISIBLE_DEVICES=0,1 leaves 2 of 4 GPUs");
}

TEST(visible_devices, tells_what_hip_does_not_read) {
  const made_machine m(four);
  const auto answer = m.ask(make_visible_devices(given({{"GPU_DEVICE_ORDINAL", "0"}})));
  EXPECT_EQ(answer.state, probe_state::yes);
  EXPECT_TRUE(finds(answer, "ROCM-ENVIRONMENT-IGNORED"));
  EXPECT_TRUE(says(answer, "leaves 4 of 4 GPUs; GPU_DEVICE_ORDINAL is for OpenCL")) << answer.fact;
}

TEST(visible_devices, says_nothing_of_a_machine_without_amd_gpus) {
  const made_machine m("like linux\n");
  const auto answer = m.ask(make_visible_devices(given({{"CUDA_VISIBLE_DEVICES", "0"}})));
  EXPECT_EQ(answer.state, probe_state::unknown);
  EXPECT_TRUE(answer.findings.empty());
}

TEST(integrated_gpu, is_hidden_by_the_number_that_hip_counts) {
  const made_machine m("gpu 1 gfx=100306\ngpu 2 gfx=110000\ngpu 3 gfx=110000\n");
  const auto ask = [&](const environment& variables) {
    return m.ask(make_integrated_gpu(given(variables)));
  };
  EXPECT_TRUE(says(ask({}), "HIP_VISIBLE_DEVICES=1,2")) << ask({}).fact;
  EXPECT_EQ(ask({{"HIP_VISIBLE_DEVICES", "1,2"}}).state, probe_state::yes);
  EXPECT_EQ(ask({{"ROCR_VISIBLE_DEVICES", "2"}}).state, probe_state::yes);
  EXPECT_TRUE(says(ask({{"ROCR_VISIBLE_DEVICES", "2,0"}}), "HIP_VISIBLE_DEVICES=0"));
  EXPECT_TRUE(says(ask({{"HIP_VISIBLE_DEVICES", "0,2"}}), "HIP_VISIBLE_DEVICES=2"));
}

TEST(integrated_gpu, is_hidden_by_a_command_to_paste) {
  const made_machine m("gpu 1 gfx=100306\ngpu 2 gfx=110000\ngpu 3 gfx=110000\n");
  const auto answer = m.ask(make_integrated_gpu(given({})));
  EXPECT_EQ(value_in(answer, "advice_instead"),
            "Hide it. HIP's numbers here: 0 is gfx1036, 1 to 2 are gfx1100.\n"
            "$ export HIP_VISIBLE_DEVICES=1,2");
  const auto inner = m.ask(make_integrated_gpu(given({{"ROCR_VISIBLE_DEVICES", "2,0"}})));
  EXPECT_EQ(value_in(inner, "advice_instead"),
            "Hide it. HIP's numbers here: 0 is gfx1100, 1 is gfx1036.\n"
            "$ export HIP_VISIBLE_DEVICES=0");
  EXPECT_EQ(m.ask(make_visible_devices(given({}))).fact,
            "none of them is set; HIP's numbers: 0 is gfx1036, 1 to 2 are gfx1100");
}

TEST(visible_devices, are_to_be_unset_where_they_leave_none) {
  const made_machine m(four);
  const auto answer = m.ask(make_visible_devices(given({{"HIP_VISIBLE_DEVICES", "7"}})));
  EXPECT_EQ(value_in(answer, "advice_instead.ROCM-VISIBLE-DEVICES"),
            "Unset them, or name each GPU once (without them: 0 to 3 are gfx942):\n"
            "$ unset HIP_VISIBLE_DEVICES");
}

TEST(integrated_gpu, alone_is_no_fault) {
  const made_machine m("gpu 1 gfx=110501\n");
  EXPECT_EQ(m.ask(make_integrated_gpu()).state, probe_state::yes);
}

TEST(integrated_gpu, is_not_guessed_for_what_is_not_known) {
  const made_machine m("gpu 1 gfx=130001\ngpu 2 gfx=110000\n");
  EXPECT_EQ(m.ask(make_integrated_gpu()).state, probe_state::unknown);
}

}  // namespace

}  // namespace diag_rocm::testing
