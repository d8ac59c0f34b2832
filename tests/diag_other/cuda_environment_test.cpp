// SPDX-License-Identifier: Apache-2.0
#include "diag_cuda/environment.hpp"

#include "answers.hpp"
#include "cuda_tree.hpp"
#include "diag_cuda/probes.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

std::string codes(const probing::variables& environment) {
  std::string all;
  for (const diag_cuda::pitfall& one : diag_cuda::pitfalls_in(environment)) {
    all += (all.empty() ? "" : " ") + one.code.substr(sizeof "CUDA-ENV-" - 1);
  }
  return all;
}

std::string visible(const std::string& value) { return codes({{"CUDA_VISIBLE_DEVICES", value}}); }

TEST(cuda_environment, what_hides_gpus) {
  EXPECT_EQ(codes({}), "");
  EXPECT_EQ(visible("0"), "");
  EXPECT_EQ(visible("0,1, 2"), "");
  EXPECT_EQ(visible("GPU-8932f937,MIG-0a1b"), "");
  EXPECT_EQ(visible(""), "HIDES-GPUS");
  EXPECT_EQ(visible("-1"), "HIDES-GPUS");
  EXPECT_EQ(visible("none"), "HIDES-GPUS");
  EXPECT_EQ(visible("cuda:0"), "HIDES-GPUS");
  EXPECT_EQ(visible("0,1,0"), "HIDES-GPUS");
  EXPECT_EQ(visible("0,-1,1"), "INVALID");
}

TEST(cuda_environment, what_slows_down_or_changes_results) {
  for (const char* name : {"CUDA_LAUNCH_BLOCKING", "CUDA_CACHE_DISABLE", "CUDA_FORCE_PTX_JIT",
                           "PYTORCH_NO_CUDA_MEMORY_CACHING"}) {
    EXPECT_EQ(codes({{name, "1"}}), "SLOW") << name;
    EXPECT_EQ(codes({{name, "0"}}), "") << name;
  }
  EXPECT_EQ(codes({{"CUDA_MODULE_LOADING", "LAZY"}}), "");
  EXPECT_EQ(codes({{"CUDA_MODULE_LOADING", "EAGER"}}), "SLOW");
  EXPECT_EQ(codes({{"CUDA_MODULE_LOADING", "lazy"}}), "INVALID");
  EXPECT_EQ(codes({{"CUDA_CACHE_MAXSIZE", "0"}}), "SLOW");
  EXPECT_EQ(codes({{"NVIDIA_TF32_OVERRIDE", "1"}}), "PRECISION");
  EXPECT_EQ(codes({{"NVIDIA_TF32_OVERRIDE", "0"}}), "PRECISION");
}

TEST(cuda_environment, what_is_not_understood) {
  const auto workspace = [](const char* value) {
    return codes({{"CUBLAS_WORKSPACE_CONFIG", value}});
  };
  EXPECT_EQ(workspace(":4096:8"), "");
  EXPECT_EQ(workspace(":16:8:4096:2"), "");
  EXPECT_EQ(workspace("4096:8"), "INVALID");
  EXPECT_EQ(workspace(":4096"), "INVALID");
  const auto allocator = [](const char* value) {
    return codes({{"PYTORCH_CUDA_ALLOC_CONF", value}});
  };
  EXPECT_EQ(allocator("expandable_segments:True"), "");
  EXPECT_EQ(allocator("max_split_size_mb:128, garbage_collection_threshold:0.6"), "");
  EXPECT_EQ(allocator("roundup_power2_divisions:[256:1,512:2,>:4]"), "");
  EXPECT_EQ(allocator("expandable_segment:True"), "INVALID");
  EXPECT_EQ(allocator("max_split_size_mb=128"), "INVALID");
  EXPECT_EQ(allocator("max_split_size_mb:20"), "INVALID");
}

TEST(cuda_environment, is_asked_of_the_tree) {
  const test::cuda_tree tree;
  tree.healthy();
  EXPECT_EQ(test::gist(diag_cuda::look_at_environment(tree.site())), "yes");
  tree.file("/environment", "CUDA_VISIBLE_DEVICES=\nCUDA_LAUNCH_BLOCKING=1\n");
  const auto answer = diag_cuda::look_at_environment(tree.site());
  EXPECT_EQ(test::gist(answer), "no CUDA-ENV-HIDES-GPUS CUDA-ENV-SLOW");
  EXPECT_EQ(answer.evidence.size(), 2U);
}

}  // namespace
