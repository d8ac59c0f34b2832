// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "asked.hpp"
#include "probes.hpp"

namespace diag_rocm::testing {

namespace {

using assay::probe_answer;
using assay::probe_state;

const std::string name = "HSA_OVERRIDE_GFX_VERSION";

probe_answer with(const std::string& gfx, const environment& variables,
                  const std::string& more = "") {
  const made_machine m("like linux\ngpu 1 gfx=" + gfx + "\n" + more);
  return m.ask(make_override(given(variables)));
}

TEST(override_value, must_be_three_decimal_numbers) {
  for (const char* const wrong : {"", "10.3", "gfx1030", "1030", "10.3.0.0", "10.3.x", "9.0.a",
                                  "64.0.0", "10.256.0", "10,3,0", "-1.0.0", "0x10.3.0", "10..0"}) {
    const auto answer = with("100302", {{name, wrong}});
    EXPECT_EQ(answer.state, probe_state::no) << wrong;
    EXPECT_TRUE(finds(answer, "ROCM-OVERRIDE-INVALID")) << wrong;
  }
  EXPECT_FALSE(finds(with("90012", {{name, "9.0.10"}}), "ROCM-OVERRIDE-INVALID"));
}

TEST(override_value, may_stand_for_a_near_relation) {
  const auto answer = with("100302", {{name, "10.3.0"}});
  EXPECT_EQ(answer.state, probe_state::yes);
  EXPECT_TRUE(answer.findings.empty());
  EXPECT_TRUE(says(with("110003", {{name, "11.0.0"}}), "11.0.2 is closer"));
}

TEST(override_value, is_wrong_across_generations) {
  for (const auto& [gfx, value] :
       {std::pair("100100", "10.3.0"), std::pair("110500", "11.0.0"), std::pair("100302", "11.0.0"),
        std::pair("90402", "9.0.10"), std::pair("120001", "11.0.0")}) {
    const auto answer = with(gfx, {{name, value}});
    EXPECT_EQ(answer.state, probe_state::no) << gfx;
    EXPECT_TRUE(finds(answer, "ROCM-OVERRIDE-WRONG")) << gfx;
  }
}

TEST(override_value, of_the_gpu_itself_does_nothing) {
  EXPECT_EQ(with("100300", {{name, "10.3.0"}}).state, probe_state::yes);
}

TEST(override_value, is_not_judged_for_what_is_not_known) {
  const auto answer = with("130001", {{name, "13.0.0"}});
  EXPECT_EQ(answer.state, probe_state::unknown);
  EXPECT_TRUE(answer.findings.empty());
  EXPECT_TRUE(says(answer, "gfx1301 is not known to this version")) << answer.fact;
  EXPECT_EQ(with("100302", {{name, "10.3.9"}}).state, probe_state::unknown);
}

TEST(override_value, of_another_generation_is_wrong_on_an_unknown_gpu_too) {
  for (const char* const value : {"10.3.0", "12.0.1", "9.0.10"}) {
    const auto answer = with("130001", {{name, value}});
    EXPECT_EQ(answer.state, probe_state::no) << value;
    EXPECT_TRUE(finds(answer, "ROCM-OVERRIDE-WRONG")) << value;
  }
}

TEST(override_of_a_node, comes_before_the_general_one) {
  const auto answer = with("100302", {{name, "11.0.0"}, {name + "_1", "10.3.0"}});
  EXPECT_EQ(answer.state, probe_state::yes) << answer.fact;
}

TEST(override_of_a_node, must_name_a_gpus_node) {
  const auto answer = with("100302", {{name + "_0", "10.3.0"}});
  EXPECT_TRUE(finds(answer, "ROCM-ENVIRONMENT-IGNORED"));
  EXPECT_TRUE(says(answer, "the KFD node's (here 1)")) << answer.fact;
}

TEST(override_value, suits_one_gpu_and_not_the_other) {
  const auto answer =
      with("100302", {{name, "10.3.0"}}, "gpu 2 gfx=110000 pci=0000:0a:00.0 minor=129\n");
  EXPECT_EQ(answer.state, probe_state::no);
  EXPECT_TRUE(says(answer, "on gfx1100")) << answer.fact;
}

TEST(override_value, goes_by_the_given_architecture_where_there_is_no_topology) {
  made_machine m("like wsl\n");
  m.site().architecture = "gfx1032:xnack-";
  EXPECT_EQ(m.ask(make_override(given({{name, "11.0.0"}}))).state, probe_state::no);
  m.site().architecture = "";
  EXPECT_EQ(m.ask(make_override(given({{name, "11.0.0"}}))).state, probe_state::unknown);
}

/// A wheel with rocBLAS's data for these targets.
made_machine wheel_for(const std::vector<std::string>& targets) {
  std::string lines = "like rx6650xt\n";
  for (const std::string& target : targets) {
    lines += "/torch/lib/rocblas/library/TensileLibrary_lazy_" + target + ".dat\n";
    lines += "/torch/lib/rocblas/library/Kernels.so-000-" + target + ".hsaco\n";
  }
  return made_machine(lines + "/torch/lib/rocblas/library/TensileLibrary_gfx90a-xnack+.dat\n");
}

TEST(override_value, is_not_needed_where_the_build_has_the_gpus_own_code) {
  made_machine m = wheel_for({"gfx1030", "gfx1032"});
  m.site().torch_dir = m.site().root / "torch";
  const auto answer = m.ask(make_override(given({{name, "10.3.0"}})));
  EXPECT_EQ(answer.state, probe_state::yes);
  EXPECT_TRUE(finds(answer, "ROCM-OVERRIDE-UNNEEDED"));
}

TEST(no_override, is_hinted_at_only_where_it_would_serve) {
  made_machine m = wheel_for({"gfx1030"});
  m.site().torch_dir = m.site().root / "torch";
  const auto answer = m.ask(make_override(given({})));
  EXPECT_TRUE(says(answer, name + "=10.3.0")) << answer.fact;
  made_machine other = wheel_for({"gfx1100"});
  other.site().torch_dir = other.site().root / "torch";
  EXPECT_EQ(other.ask(make_override(given({}))).fact, "it is not set");
}

TEST(xnack, matters_to_the_accelerators_only) {
  const auto with_xnack = [](const std::string& gfx, const std::string& value) {
    const made_machine m("gpu 1 gfx=" + gfx + "\n");
    return m.ask(make_xnack(given({{"HSA_XNACK", value}})));
  };
  EXPECT_EQ(with_xnack("90402", "1").state, probe_state::no);
  EXPECT_TRUE(finds(with_xnack("90010", "1"), "ROCM-XNACK-MISMATCH"));
  EXPECT_EQ(with_xnack("90010", "0").state, probe_state::yes);
  EXPECT_TRUE(finds(with_xnack("110000", "1"), "ROCM-ENVIRONMENT-IGNORED"));
}

}  // namespace

}  // namespace diag_rocm::testing
