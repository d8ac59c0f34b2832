// SPDX-License-Identifier: Apache-2.0
//
// HSA_OVERRIDE_GFX_VERSION is advised only where it is valid and safe.
#include <gtest/gtest.h>

#include "diag_rocm/advice.hpp"
#include "diag_rocm/data_probes.hpp"
#include "diag_rocm/torch_targets.hpp"
#include "library_tree.hpp"

namespace {

using diag_rocm::testing::library_tree;
using diag_rocm::testing::value_named;

void add_rocblas(const library_tree& tree, const std::vector<std::string>& targets) {
  tree.write("/py/torch/lib/librocblas.so");
  for (const std::string& target : targets) {
    tree.write("/py/torch/lib/rocblas/library/TensileLibrary_lazy_" + target + ".dat");
    tree.write("/py/torch/lib/rocblas/library/Kernels.so-000-" + target + ".hsaco");
  }
}

void add_gpus(const library_tree& tree, const std::vector<unsigned>& versions) {
  for (std::size_t i = 0; i < versions.size(); ++i) {
    const std::string node = "/sys/class/kfd/kfd/topology/nodes/" + std::to_string(i + 1);
    tree.write(node + "/gpu_id", "77\n");
    tree.write(node + "/properties",
               "simd_count 64\ngfx_target_version " + std::to_string(versions[i]) + "\n");
  }
}

std::string advice_of_rocblas(const library_tree& tree) {
  for (const auto& probe : diag_rocm::data_probes(tree.source())) {
    if (probe->id() == "rocm.rocblas_data") {
      return value_named(probe->look(tree.site()), "advice");
    }
  }
  return "no such probe";
}

std::string command_in(const std::string& advice) {
  const std::size_t at = advice.find("$ ");
  return at == std::string::npos ? "" : advice.substr(at);
}

std::string advised(const std::string& gpu, const std::vector<std::string>& targets) {
  const library_tree tree(gpu);
  add_rocblas(tree, targets);
  return command_in(advice_of_rocblas(tree));
}

TEST(override_advice, has_the_value_of_a_near_relation_whose_files_are_there) {
  const std::vector<std::string> all{"gfx900", "gfx906", "gfx1010", "gfx1030", "gfx1100"};
  EXPECT_EQ(advised("gfx1032", all), "$ export HSA_OVERRIDE_GFX_VERSION=10.3.0");
  EXPECT_EQ(advised("gfx1032:xnack-", all), "$ export HSA_OVERRIDE_GFX_VERSION=10.3.0");
  EXPECT_EQ(advised("gfx1101", all), "$ export HSA_OVERRIDE_GFX_VERSION=11.0.0");
  EXPECT_EQ(advised("gfx1103", all), "$ export HSA_OVERRIDE_GFX_VERSION=11.0.0");
  EXPECT_EQ(advised("gfx1103", {"gfx1100", "gfx1102"}), "$ export HSA_OVERRIDE_GFX_VERSION=11.0.2");
}

TEST(override_advice, is_none_across_generations_or_without_the_files) {
  const std::vector<std::string> all{"gfx900", "gfx906", "gfx1030", "gfx1100", "gfx1102"};
  for (const char* const gpu :
       {"gfx1010", "gfx1151", "gfx1201", "gfx1200", "gfx942", "gfx803", "gfx908", "gfx1301"}) {
    EXPECT_EQ(advised(gpu, all), "") << gpu;
  }
  EXPECT_EQ(advised("gfx1032", {"gfx1010", "gfx1100"}), "");
  EXPECT_EQ(advised("gfx1032", {"gfx1030", "gfx1032"}), "");
}

TEST(override_advice, says_the_risk) {
  const library_tree tree;
  add_rocblas(tree, {"gfx1030"});
  const std::string advice = advice_of_rocblas(tree);
  EXPECT_NE(advice.find("The risk: "), std::string::npos) << advice;
  EXPECT_NE(advice.find("hang"), std::string::npos) << advice;
}

TEST(override_advice, is_none_where_one_is_set_or_not_read) {
  library_tree tree;
  add_rocblas(tree, {"gfx1030"});
  tree.variables["HSA_OVERRIDE_GFX_VERSION"] = "10.3.1";
  EXPECT_EQ(advice_of_rocblas(tree), "");
  tree.variables.clear();
  tree.write("/dev/dxg");
  EXPECT_EQ(advice_of_rocblas(tree), "") << "WSL";
}

TEST(override_advice, is_for_that_gpu_alone_among_others) {
  library_tree tree("");
  add_rocblas(tree, {"gfx1030", "gfx1100"});
  add_gpus(tree, {100302, 110000});
  EXPECT_EQ(command_in(advice_of_rocblas(tree)), "$ export HSA_OVERRIDE_GFX_VERSION_1=10.3.0");
}

TEST(variables_to_unset, are_named_for_both_shells_of_windows) {
  EXPECT_EQ(diag_rocm::unsetting_steps(diag_rocm::system_kind::linux_os, {"A", "B"}),
            "$ unset A B");
  EXPECT_EQ(diag_rocm::unsetting_steps(diag_rocm::system_kind::windows, {"A", "B"}),
            "In cmd:\n$ set A=\n$ set B=\nIn PowerShell:\n$ Remove-Item Env:A, Env:B");
}

TEST(integrated_gpu_without_files, is_to_be_hidden) {
  library_tree tree("");
  add_rocblas(tree, {"gfx1030", "gfx1100"});
  add_gpus(tree, {100306, 110000});
  const std::string advice = advice_of_rocblas(tree);
  EXPECT_EQ(command_in(advice), "$ export HIP_VISIBLE_DEVICES=1");
  EXPECT_NE(advice.find("0 is gfx1036, 1 is gfx1100"), std::string::npos) << advice;
}

}  // namespace
