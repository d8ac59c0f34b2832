// SPDX-License-Identifier: Apache-2.0
#include "diag_torch/classifiers.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

template <typename classifier>
assay::diagnosis judged(const assay::failure& f) {
  const auto answers = classifier().classify(f);
  return answers.empty() ? assay::diagnosis{.code = "none"} : answers.front();
}

std::string devices(std::string_view text) {
  const auto answer = judged<diag_torch::device_mismatch>({.log = text});
  return answer.code == "none" ? "none" : answer.cause;
}

TEST(device_mismatch, names_both_devices_in_every_wording) {
  EXPECT_EQ(devices("Traceback\nRuntimeError: Expected all tensors to be on the same device, but "
                    "found at least two devices, cuda:0 and cpu! (when checking argument for "
                    "argument mat1 in method wrapper_CUDA_addmm)\n"),
            "One operator got tensors on cuda:0 and on cpu (wrapper_CUDA_addmm, argument mat1).");
  EXPECT_EQ(
      devices("Expected all tensors to be on the same device, but found at least two devices, "
              "cuda:1 and cuda:0!"),
      "One operator got tensors on cuda:1 and on cuda:0.");
  EXPECT_EQ(devices("RuntimeError: Expected all tensors to be on the same device, but got index is "
                    "on cpu, different from other tensors on cuda:0 (when checking argument in "
                    "method wrapper_CUDA__index_select)"),
            "One operator got tensors on cpu and on cuda:0 (wrapper_CUDA__index_select).");
  EXPECT_EQ(devices("RuntimeError: Expected object of device type cuda but got device type cpu for "
                    "argument #1 'self' in call to _th_mm"),
            "One operator got tensors on cpu and on cuda.");
  EXPECT_EQ(devices("RuntimeError: Input type (torch.cuda.FloatTensor) and weight type "
                    "(torch.FloatTensor) should be the same"),
            "One operator got tensors on cuda and on cpu.");
  EXPECT_EQ(devices("RuntimeError: indices should be either on cpu or on the same device as the "
                    "indexed tensor (cpu)"),
            "One operator got tensors on another device and on cpu.");
}

TEST(device_mismatch, types_that_differ_on_one_device_are_not_its_business) {
  EXPECT_EQ(devices("Input type (torch.cuda.HalfTensor) and weight type (torch.cuda.FloatTensor) "
                    "should be the same"),
            "none");
  EXPECT_EQ(devices("Input type (float) and bias type (c10::Half) should be the same"), "none");
  EXPECT_EQ(devices("expected scalar type Half but found Float"), "none");
}

std::string dtype(std::string_view text, assay::failure f = {}) {
  f.error_text = text;
  const auto answer = judged<diag_torch::dtype_not_implemented>(f);
  return answer.code == "none"
             ? "none"
             : answer.code.substr(sizeof "TORCH-DTYPE-NOT-ON-" - 1) + " " + answer.confidence;
}

TEST(dtype_not_implemented, the_kernel_tells_the_device) {
  EXPECT_EQ(dtype("\"addmm_impl_cpu_\" not implemented for 'Half'"), "CPU likely");
  EXPECT_EQ(dtype("RuntimeError: \"LayerNormKernelImpl\" not implemented for 'Half'"),
            "CPU likely");
  EXPECT_EQ(dtype("\"softmax_lastdim_kernel_impl\" not implemented for 'BFloat16'"), "CPU likely");
  EXPECT_EQ(dtype("\"erfinv_vml_cpu\" not implemented for 'Half'"), "CPU likely");
  EXPECT_EQ(dtype("\"lerp_cuda\" not implemented for 'Int'"), "GPU likely");
  EXPECT_EQ(dtype("\"nll_loss_forward_reduce_cuda_kernel_2d_index\" not implemented for 'Int'"),
            "GPU likely");
  EXPECT_EQ(dtype("\"_tunable_scaled_gemm\" not implemented for 'Float8_e4m3fn'"), "none");
  EXPECT_EQ(dtype("\"frobnicate\" not implemented for 'Half'"), "none");
  EXPECT_EQ(dtype("addmm not implemented for 'Half'"), "none");
}

TEST(dtype_not_implemented, otherwise_the_failure_may) {
  EXPECT_EQ(dtype("\"frobnicate\" not implemented for 'Half'", {.device = "cuda:0"}),
            "GPU possible");
  EXPECT_EQ(dtype("\"frobnicate\" not implemented for 'Half'", {.device = "cpu"}), "CPU possible");
  EXPECT_EQ(dtype("\"frobnicate\" not implemented for 'Half'",
                  {.trace = "frame #3: at /src/aten/src/ATen/native/cpu/Frob.cpp:12"}),
            "CPU possible");
  const auto answer = judged<diag_torch::dtype_not_implemented>(
      {.device = "cuda:0", .error_text = "\"addmm_impl_cpu_\" not implemented for 'Half'"});
  EXPECT_NE(answer.cause.find("cuda:0"), std::string::npos) << answer.cause;
  EXPECT_EQ(answer.evidence.size(), 1U);
}

}  // namespace
