// SPDX-License-Identifier: Apache-2.0
#include "host/assay/kernel_names.hpp"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(kernel_names, what_a_kernel_computes_is_left) {
  EXPECT_EQ(short_kernel_name("void at::native::vectorized_elementwise_kernel<4, "
                              "at::native::AUnaryFunctor<float, float>, std::array<char*, 2ul> "
                              ">(int, at::native::AUnaryFunctor<float, float>)"),
            "vectorized_elementwise_kernel<AUnaryFunctor>");
  EXPECT_EQ(short_kernel_name("void at::native::elementwise_kernel<128, 2, "
                              "at::native::gpu_kernel_impl_nocast<at::native::direct_copy(at::T&)::"
                              "{lambda()#3}>(at::T&)::{lambda(int)#1}>(int)"),
            "elementwise_kernel<direct_copy>");
  EXPECT_EQ(short_kernel_name("void at::native::(anonymous namespace)::max_pool<float, int>(int)"),
            "max_pool");
  EXPECT_EQ(short_kernel_name("void cutlass::Kernel2<cutlass_80_sgemm_align1>(c::Params)"),
            "cutlass::Kernel2<cutlass_80_sgemm_align1>");
  EXPECT_EQ(short_kernel_name("Cijk_Ailk_Bljk_SB_MT64x64x16"), "Cijk_Ailk_Bljk_SB_MT64x64x16");
  EXPECT_EQ(short_kernel_name("fmha_cutlassF_f32(PyTorchMemEffAttention::K<float>::Params)"),
            "fmha_cutlassF_f32");
  for (const char* odd : {"", "void ", "<", "(", "a<", "a<b<", "a<>", "void a<1, 2>(", ">("}) {
    EXPECT_LE(short_kernel_name(odd).size(), 16U) << odd;
  }
}

TEST(kernel_names, which_are_of_libtorch) {
  EXPECT_TRUE(is_kernel_of_torch("void at::native::reduce_kernel<512>(int)"));
  EXPECT_TRUE(is_kernel_of_torch("fmha_cutlassF_f32(PyTorchMemEffAttention::K<float>::Params)"));
  EXPECT_FALSE(is_kernel_of_torch("nvjet_sm90_hsh_64x8_64x16_1x2_h_bz_NNT"));
  EXPECT_FALSE(is_kernel_of_torch("Cijk_Ailk_Bljk_SB_MT64x64x16"));
}

}  // namespace
}  // namespace assay
