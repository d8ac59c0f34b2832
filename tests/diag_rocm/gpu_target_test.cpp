// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "diag_rocm/gpu_target.hpp"
#include "unit/temp_dir.hpp"

namespace {

using assay::testing::temp_dir;
using diag_rocm::architecture_of_override;
using diag_rocm::code_serves;
using diag_rocm::environment;

class kfd_tree {
 public:
  void add(int node, int version) const {
    const auto folder =
        std::filesystem::path("sys/class/kfd/kfd/topology/nodes") / std::to_string(node);
    tree_.write(folder / "gpu_id", version == 0 ? "0\n" : "4660\n");
    tree_.write(folder / "properties", "simd_count " + std::to_string(version == 0 ? 0 : 64) +
                                           "\ngfx_target_version " + std::to_string(version) +
                                           "\n");
  }

  [[nodiscard]] std::vector<std::string> targets(const environment& variables = {}) const {
    std::vector<std::string> names;
    for (const auto& target : diag_rocm::gpu_targets({tree_.path()}, variables)) {
      names.push_back(target.architecture);
    }
    return names;
  }

 private:
  temp_dir tree_;
};

using names = std::vector<std::string>;

TEST(gpu_target, of_the_kernel_driver) {
  const kfd_tree tree;
  tree.add(0, 0);
  tree.add(1, 100302);
  tree.add(2, 100306);
  tree.add(10, 90010);
  tree.add(11, 90010);
  EXPECT_EQ(tree.targets(), (names{"gfx1032", "gfx1036", "gfx90a"}));
  EXPECT_EQ(tree.targets({{"HIP_VISIBLE_DEVICES", "0"}}), names{"gfx1032"});
  EXPECT_EQ(tree.targets({{"ROCR_VISIBLE_DEVICES", "1,2"}, {"HIP_VISIBLE_DEVICES", "1"}}),
            names{"gfx90a"});
  EXPECT_EQ(tree.targets({{"CUDA_VISIBLE_DEVICES", "1"}}), names{"gfx1036"});
  EXPECT_EQ(tree.targets({{"ROCR_VISIBLE_DEVICES", "GPU-0123"}}).size(), 3U);
}

TEST(gpu_target, override) {
  const kfd_tree tree;
  tree.add(0, 0);
  tree.add(1, 100302);
  tree.add(2, 100306);
  EXPECT_EQ(tree.targets({{"HSA_OVERRIDE_GFX_VERSION", "10.3.0"}}), names{"gfx1030"});
  EXPECT_EQ(tree.targets({{"HSA_OVERRIDE_GFX_VERSION_2", "10.3.0"}}),
            (names{"gfx1032", "gfx1030"}));
  EXPECT_EQ(tree.targets({{"HSA_OVERRIDE_GFX_VERSION", "nonsense"}}),
            (names{"gfx1032", "gfx1036"}));
  EXPECT_EQ(architecture_of_override("9.0.10"), "gfx90a");
  EXPECT_EQ(architecture_of_override("10.3"), "");
  EXPECT_EQ(architecture_of_override("10.3.x"), "");
  EXPECT_EQ(architecture_of_override("10.300.0"), "");
}

TEST(gpu_target, what_was_asked_for_comes_first) {
  const kfd_tree tree;
  const auto found = diag_rocm::gpu_targets({"/nowhere", {}, "gfx90a:xnack-"}, {});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].architecture, "gfx90a:xnack-");
  EXPECT_TRUE(tree.targets().empty());
}

TEST(gpu_target, code_that_serves_it) {
  EXPECT_TRUE(code_serves("gfx1032", "gfx1032"));
  EXPECT_FALSE(code_serves("gfx1030", "gfx1032"));
  EXPECT_TRUE(code_serves("gfx90a", "gfx90a:sramecc+:xnack-"));
  EXPECT_TRUE(code_serves("gfx90a:xnack-", "gfx90a:sramecc+:xnack-"));
  EXPECT_TRUE(code_serves("gfx90a:xnack-", "gfx90a"));
  EXPECT_FALSE(code_serves("gfx90a:xnack+", "gfx90a:sramecc+:xnack-"));
  EXPECT_TRUE(code_serves("amdgcnspirv", "gfx1250"));
  EXPECT_TRUE(code_serves("gfx10-3-generic", "gfx1032"));
  EXPECT_FALSE(code_serves("gfx10-3-generic", "gfx1010"));
  EXPECT_TRUE(code_serves("gfx10-1-generic", "gfx1012"));
  EXPECT_TRUE(code_serves("gfx11-generic", "gfx1151"));
  EXPECT_FALSE(code_serves("gfx11-generic", "gfx1200"));
  EXPECT_TRUE(code_serves("gfx12-generic", "gfx1201"));
  EXPECT_TRUE(code_serves("gfx9-generic", "gfx906"));
  EXPECT_FALSE(code_serves("gfx9-generic", "gfx942"));
  EXPECT_TRUE(code_serves("gfx9-4-generic", "gfx942"));
  EXPECT_FALSE(code_serves("", "gfx1032"));
}

}  // namespace
