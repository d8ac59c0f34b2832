// SPDX-License-Identifier: Apache-2.0
//
// Lines in the forms that the libraries print, whole, broken and foreign.
#include "host/diagnosis/library_log.hpp"

#include <gtest/gtest.h>

#include <string>

namespace assay {
namespace {

/// "library: what (detail) xN", one a line.
std::string shown(const library_calls& calls) {
  std::string text;
  for (const library_call& call : calls) {
    text += call.library + ": " + call.what() + " (" + call.detail() + ") x" +
            std::to_string(call.lines) + (call.slow ? " slow" : "") + "\n";
  }
  return text;
}

TEST(miopen_log, the_selected_solver_serves_the_command_before_it) {
  const std::string log =
      "MIOpen(HIP): Info [get_device_name] Raw device name: gfx1030\n"
      "MIOpen(HIP): Command [LogCmdConvolution] ./bin/MIOpenDriver convfp16 -n 8 -c 64 -H 56 -W 56 "
      "-k 64 -y 3 -x 3 -p 1 -q 1 -u 1 -v 1 -l 1 -j 1 -m conv -g 1 -F 1 -t 1\n"
      "MIOpen(HIP): Info [EvaluateInvokers] ConvBinWinogradRxSf2x3: miopenSp3AsmConv_v21: 0.94072 "
      "< "
      "2.52284\n"
      "MIOpen(HIP): Info [EvaluateInvokers] Selected: ConvBinWinogradRxSf2x3: "
      "miopenSp3AsmConv_v21: 0.94072, workspace_sz = 0\n";
  const library_calls calls = parse_miopen_log(log);
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls[0].kernel, "ConvBinWinogradRxSf2x3");
  EXPECT_EQ(calls[0].operation, "conv");
  EXPECT_EQ(calls[0].dtype, "float16");
  EXPECT_EQ(calls[0].sizes, "n=8 c=64 H=56 W=56 k=64 y=3 x=3 l=1 g=1");
  EXPECT_EQ(calls[0].note, "kernel miopenSp3AsmConv_v21");
  EXPECT_FALSE(calls[0].slow);
}

TEST(miopen_log, a_registered_solver_a_named_id_and_prefixes) {
  EXPECT_EQ(
      shown(parse_miopen_log(
          "MIOpen(HIP): Info2 [SetAsFound1_0] Solver ConvDirectNaiveConvFwd registered as "
          "find 1.0 best for miopenConvolutionFwdAlgoDirect in 64x256xNHWCxFP16xFxDefault\n")),
      "MIOpen: ConvDirectNaiveConvFwd (MIOpen's slow reference kernel) x1 slow\n");
  EXPECT_EQ(
      shown(parse_miopen_log(
          "box 77 MIOpen(HIP) 0.213 (2026-11-30 12:01:02): Info [ConvolutionForwardImmediate] "
          "solver_id = GemmFwd1x1_0_1, workspace = 0\n")),
      "MIOpen: GemmFwd1x1_0_1 (rocBLAS or hipBLASLt underneath) x1\n");
  EXPECT_EQ(shown(parse_miopen_log("MIOpen(HIP): Info [CompileSolution] solver_id = 86\n")), "");
}

TEST(miopen_log, a_command_without_a_solver_is_named_itself) {
  EXPECT_EQ(
      shown(parse_miopen_log(
          "MIOpen(HIP): Command [LogCmdBNorm] MIOpenDriver.exe bnormbfp16 -n 4 -c 16 -H 8 -W 8 "
          "-m 1 --forw 2 -b 0 -s 0 -r 0\r\n"
          "MIOpen(HIP): Command [LogCmdRNN] MIOpenDriver.exe rnn -n 256 -W 30 -H 256 -l 2 -b 1 "
          "-m lstm -p 0 -r 0 -q 0 -k 20 -c 0 -F 1 -t 1 -w 1\n")),
      "MIOpen: bnorm (bfloat16 n=4 c=16 H=8 W=8) x1\n"
      "MIOpen: rnn (float32 n=256 W=30 H=256 l=2 k=20 c=0) x1\n");
}

TEST(miopen_log, the_same_solver_twice_is_one_call_that_knows_its_kernel) {
  EXPECT_EQ(
      shown(parse_miopen_log(
          "MIOpen(HIP): Command [LogCmdFindConvolution] ./bin/MIOpenDriver conv -n 1 -c 3 -F 4\n"
          "MIOpen(HIP): Info2 [SetAsFound1_0] Solver GemmWrwUniversal registered as find 1.0 "
          "best for a in b\n"
          "MIOpen(HIP): Info [EvaluateInvokers] Selected: GemmWrwUniversal: gemm_k: 1.5, "
          "workspace_sz = 64\n")),
      "MIOpen: GemmWrwUniversal (conv backward weights float32 n=1 c=3; kernel gemm_k; rocBLAS "
      "or hipBLASLt underneath) x2\n");
}

TEST(miopen_log, errors_broken_and_foreign_lines_serve_nothing) {
  EXPECT_EQ(
      shown(parse_miopen_log(
          "MIOpen(HIP): Error [BuildHip] HIPRTC status = HIPRTC_ERROR_COMPILATION (6), source "
          "file: MIOpenBatchNormFwdInferSpatialHIP.cpp\n"
          "MIOpen(HIP): Error [Find] Selected: NotMe: k: 1, workspace_sz = 0\n"
          "MIOpen(HIP): Info [EvaluateInvokers\n"
          "MIOpen(HIP): Info [EvaluateInvokers] Selected: \n"
          "MIOpen(HIP): Command [LogCmdConvolution] ./bin/MIOpenDriver\n"
          "MIOpen(HIP): Command [LogCmdConvolution] \n"
          "MIOpen(\n"
          "Selected: Foreign: k: 1, workspace_sz = 0\n"
          ":3:hip_device_runtime.cpp :708 : 14359 us: hipGetDeviceCount: Returned hipSuccess\n"
          "\xff\xfe\n")),
      "");
  EXPECT_EQ(shown(parse_miopen_log("")), "");
}

TEST(rocblas_log, bench_lines) {
  EXPECT_EQ(
      shown(parse_rocblas_log(
          "./rocblas-bench -f gemm -r f32_r --transposeA N --transposeB N -m 128 -n 64 -k 32 "
          "--alpha 1 --lda 128 --ldb 128 --beta 0 --ldc 128\n"
          "rocblas_sgemm,N,N,128,64,32,1,0x7f0000000000,128,0x7f,128,0,0x7f,128\n"
          "./rocblas-bench -f gemm_strided_batched_ex --transposeA N --transposeB N -m 3072 -n "
          "384 -k 1024 --alpha 1 --a_type f16_r --lda 3072 --batch_count 12 --compute_type f32_r "
          "--algo 0 --solution_index 0 --flags 0\n"
          "./rocblas-bench -f gemm_ex -m 1 -n 2 -k 3 --a_type bf16_r --batch_count 1 "
          "--solution_index 4711\n")),
      "rocBLAS: gemm (float32 m=128 n=64 k=32) x1\n"
      "rocBLAS: gemm_strided_batched_ex (float16 m=3072 n=384 k=1024 batch_count=12) x1\n"
      "rocBLAS: solution 4711 (gemm_ex bfloat16 m=1 n=2 k=3) x1\n");
}

TEST(rocblas_log, trace_lines_where_there_is_no_bench_line) {
  EXPECT_EQ(shown(parse_rocblas_log(
                "rocblas_create_handle,0x1,atomics_allowed\n"
                "rocblas_set_stream,0x1,0x2,atomics_allowed\n"
                "rocblas_sgemm,N,N,128,64,32,1,0x7f,128,0x7f,128,0,0x7f,128,atomics_allowed\n"
                "rocblas_sgemm,N,N,128,64,32,1,0x7f,128,0x7f,128,0,0x7f,128,atomics_allowed\n"
                "rocblas_gemm_ex,N,T,4,5,6,1,0x7f,f16_r,4,0x7f,f16_r,6,0,0x7f,f16_r\n"
                "rocblas_dscal,128,2,0x7f,1\n")),
            "rocBLAS: sgemm (float32 m=128 n=64 k=32) x2\n"
            "rocBLAS: gemm_ex (float16 m=4 n=5 k=6) x1\n"
            "rocBLAS: dscal (float64) x1\n");
}

TEST(rocblas_log, broken_and_foreign_lines) {
  EXPECT_EQ(shown(parse_rocblas_log("./rocblas-bench -f\n./rocblas-bench\nrocblas_\nrocblas_sgemm\n"
                                    "rocblas_error: cannot read a, b, c\n,,,\n"
                                    "hipblaslt-bench -m 1 -n 2 -k 3\n")),
            "");
  EXPECT_EQ(shown(parse_rocblas_log("./rocblas-bench -f gemm -m x -n\n")), "rocBLAS: gemm () x1\n");
}

TEST(hipblaslt_log, bench_lines_name_the_solution) {
  EXPECT_EQ(
      shown(parse_hipblaslt_log(
          "hipblaslt-bench --api_method c -m 4096 -n 2048 -k 1024 --lda 4096 --transA T --transB "
          "T --batch_count 1 --a_type f16_r --b_type f16_r --compute_type f32_r --algo_method "
          "index --solution_index 2010 --activation_type none --cold_iters 0 --iters 0\n"
          "hipblaslt-bench\n[x][HIPBLASLT][1][Api][rocblaslt_matmul_desc_create] a=1\n")),
      "hipBLASLt: solution 2010 (matmul float16 m=4096 n=2048 k=1024) x1\n");
}

TEST(hipblaslt_log, trace_lines_where_there_is_no_bench_line) {
  EXPECT_EQ(
      shown(parse_hipblaslt_log(
          "[2026-06-12 21:16:46][HIPBLASLT][690][Trace][rocblaslt_matmul] A=0x7e Adesc=[type=R_32F "
          "rows=2400 cols=128 ld=2400] B=0x7e Bdesc=[type=R_32F rows=2400 cols=2048 ld=25272] "
          "C=0x7e Cdesc=[type=R_32F rows=128 cols=2048 ld=128] D=0x7e Ddesc=[type=R_32F rows=128 "
          "cols=2048 ld=128] computeDesc=[computeType=COMPUTE_32F scaleType=R_32F transA=OP_T "
          "transB=OP_N] workSpace=0x7e\n")),
      "hipBLASLt: rocblaslt_matmul (float32 m=128 n=2048 k=2400; computes in 32f) x1\n");
}

TEST(cublas_log, the_function_with_its_sizes) {
  EXPECT_EQ(
      shown(parse_cublas_log(
          "I! cuBLAS (v13.0) function cublasStatus_t cublasSetStream_v2(cublasHandle_t, "
          "cudaStream_t) "
          "called:\n"
          "i!  handle: type=cublasHandle_t; val=POINTER (IN HEX:0x0xa8af7b0)\n"
          "I! cuBLAS (v13.0) function cublasStatus_t cublasSgemm_v2(cublasHandle_t, int) called:\n"
          "i!  transa: type=cublasOperation_t; val=CUBLAS_OP_N(0)\n"
          "i!  m: type=int; val=128\ni!  n: type=int; val=64\ni!  k: type=int; val=32\n"
          "i! Time: 2026-11-30T07:13:36 elapsed from start 0.03 minutes\n"
          "I! cuBLAS (v13.0) function cublasStatus_t cublasGemmEx(cublasHandle_t, int) called:\n"
          "i!  m: type=int; val=2\ni!  Atype: type=cudaDataType_t; val=CUDA_R_16F(2)\n"
          "I! CuDNN (v91002 17) function cudnnCreate() called:\ni!  m: type=int; val=9\n")),
      "cuBLAS: cublasSgemm (float32 m=128 n=64 k=32) x1\n"
      "cuBLAS: cublasGemmEx (float16 m=2) x1\n");
  EXPECT_EQ(shown(parse_cublas_log(
                "I! cuBLAS (v13.0) function\nI! cuBLAS\ni!  m: type=int; val=1\nI!\n")),
            "");
}

TEST(cublaslt_log, trace_lines_name_the_algorithm) {
  const std::string rest =
      " A=0X7F Adesc=[type=R_16BF rows=768 cols=3072 ld=768] B=0X7F Bdesc=[type=R_16BF rows=768 "
      "cols=64 "
      "ld=768] C=0X7F Cdesc=[type=R_16BF rows=3072 cols=64 ld=3072] D=0X7F Ddesc=[type=R_16BF "
      "rows=3072 "
      "cols=64 ld=3072] computeDesc=[computeType=COMPUTE_32F scaleType=R_32F transa=OP_T] "
      "algo=[algoId=66 tile=MATMUL_TILE_128x64 stages=MATMUL_STAGES_64xAUTO customOption=3 "
      "clusterShape=CLUSTER_SHAPE_2x1x1] workSpace=0X0 beta=0 outOfPlace=0 stream=0X0\n";
  const std::string expected = "(cublasLtMatmul bfloat16 m=3072 n=64 k=768; computes in 32f) x1\n";
  EXPECT_EQ(shown(parse_cublaslt_log("[2026-11-30 09:00:00][cublasLt][81][Trace][cublasLtMatmul]" +
                                     rest)),
            "cuBLASLt: algorithm 66 tile 128x64 stages 64xAUTO cluster 2x1x1 " + expected);
  EXPECT_EQ(parse_cublaslt_log("[cublasLt][81][Trace][cublasLtTSTMatmul]" + rest).size(), 1U);
  EXPECT_EQ(
      shown(parse_cublaslt_log(
          "[cublasLt][81][Api][cublasLtMatmul]" + rest +
          "[cublasLt][81][Trace][cublasLtTSTMatmulAlgoGetHeuristic]" + rest +
          "[cublasLt][81][Trace][cublasLtMatmul] A=0X7F Adesc=[type=R_16BF ro\n[cublasLt]\n")),
      "");
}

TEST(cudnn_log, a_legacy_call_names_its_algorithm) {
  EXPECT_EQ(
      shown(parse_cudnn_log(
          "I! CuDNN (v8907) function cudnnGetConvolutionForwardWorkspaceSize() called:\n"
          "I! CuDNN (v8907) function cudnnConvolutionForward() called:\n"
          "i!     handle: type=cudnnHandle_t; streamId=0x0;\n"
          "i!     xDesc: type=cudnnTensorDescriptor_t:\n"
          "i!         dataType: type=cudnnDataType_t; val=CUDNN_DATA_HALF (2);\n"
          "i!         dimA: type=int; val=[8,64,56,56];\n"
          "i!     algo: type=cudnnConvolutionFwdAlgo_t; "
          "val=CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM (1);\n")),
      "cuDNN: CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM (cudnnConvolutionForward float16 "
      "[8,64,56,56]) x1\n");
}

TEST(cudnn_log, a_plan_names_its_engine) {
  const std::string plan =
      "I! CuDNN (v91200 46) function cudnnBackendExecute() called:\n"
      "i!     executionPlan: type=CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:\n"
      "i!                 opGraph: type=CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:\n"
      "i!                     [0]: type=CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:\n"
      "i!                         type: type=cudnnDataType_t; val=CUDNN_DATA_FLOAT (0);\n"
      "i!                         dimA: type=int; val=[8,3,14,14];\n"
      "i!                         dimA: type=int; val=[16,3,3,3];\n"
      "i!                 engine_id: type=int; val=14;\n"
      "i! Time: 2026-11-30T23:49:41.702901 (0d+0h+1m+39s since start)\n"
      "I! CuDNN (v91200 46) function cudnnBackendExecute() called:\n"
      "i!     status: type=cudnnStatus_t; val=CUDNN_STATUS_SUCCESS (0);\n";
  EXPECT_EQ(shown(parse_cudnn_log(plan)),
            "cuDNN: engine 14 (convolution forward float32 [8,3,14,14] [16,3,3,3]) x1\n");
  EXPECT_EQ(
      shown(parse_cudnn_log(
          plan + "[cudnn_frontend] INFO: Executing \"eng14_k2=2_k3=0\" plan with workspace 0\n")),
      "cuDNN: eng14_k2=2_k3=0 (convolution forward float32 [8,3,14,14] [16,3,3,3]) x1\n");
  EXPECT_EQ(
      shown(parse_cudnn_log("I! CuDNN (v91200 46) function cudnnBackendSetAttribute() called:\n"
                            "i!     attributeName: type=cudnnBackendAttributeName_t; "
                            "val=CUDNN_ATTR_ENGINE_GLOBAL_INDEX (200);\n"
                            "i!     [0]: type=int64_t; val=42;\n"
                            "I! CuDNN (v91200 46) function cudnnBackendExecute() called:\n"
                            "i!     handle: type=cudnnHandle_t; streamId=0x0;\n")),
      "cuDNN: engine 42 (cudnnBackendExecute) x1\n");
}

TEST(cudnn_log, version_9_tells_a_graph_and_an_echo_of_it) {
  const std::string graph =
      "I! CuDNN (v91900 56) function cudnnBackendExecute() called:\n"
      "i!     executionPlan: type=CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:\n"
      "i!       [0]: type=CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:\n"
      "i!         type: type=cudnnDataType_t; val=CUDNN_DATA_HALF (2);\n"
      "i!         dimA: type=int; val=[2,8,16,8];\n"
      "i!       [1]: type=CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:\n"
      "i!       [2]: type=CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:\n"
      "i!       engine_id: type=int; val=9;\n";
  const std::string echo =
      "I! CuDNN (v91900 56) function cudnnBackendExecuteInternal() called:\n"
      "i!     engine_id: type=int; val=9;\n";
  EXPECT_EQ(shown(parse_cudnn_log(graph + echo)),
            "cuDNN: engine 9 (matmul + pointwise float16 [2,8,16,8]) x1\n");
  EXPECT_EQ(shown(parse_cudnn_log(echo)), "cuDNN: engine 9 (cudnnBackendExecuteInternal) x1\n");
  EXPECT_EQ(shown(parse_cudnn_log(
                graph + "[cudnn_frontend] INFO: Executing eng9_k24=7... with workspace 0\n")),
            "cuDNN: eng9_k24=7 (matmul + pointwise float16 [2,8,16,8]) x1\n");
}

TEST(cudnn_log, broken_and_foreign_lines) {
  EXPECT_EQ(shown(parse_cudnn_log("I! CuDNN (v91200 46) function cudnnCreate() called:\n"
                                  "i!     handle: location=host; addr=0;\n"
                                  "[cudnn_frontend] INFO: engines are many\n"
                                  "I! CuDNN\ni!\nengine_id: type=int; val=3;\n")),
            "");
}

TEST(onednn_log, both_forms_and_reorders_last) {
  EXPECT_EQ(
      shown(parse_onednn_log(
          "onednn_verbose,v1,info,oneDNN v3.7.1 (commit 8d263e6)\n"
          "onednn_verbose,v1,primitive,create:cache_miss,cpu,convolution,brgconv:avx2,"
          "forward_inference,src:f32::blocked:acdb::f0,attr,alg:direct,mb1_ic3,0.2\n"
          "onednn_verbose,v1,primitive,exec,cpu,reorder,jit:uni,undef,src:f32::blocked:abcd::f0 "
          "dst:f32::blocked:acdb::f0,,,1x3x8x8,0.01\n"
          "onednn_verbose,v1,primitive,exec,cpu,convolution,brgconv:avx2,forward_inference,"
          "src:bf16::blocked:acdb::f0 wei:bf16:a:blocked:x::f0,attr-scratchpad:user,"
          "alg:convolution_direct,mb1_ic3oc8_ih8oh8kh3,0.05\n"
          "onednn_verbose,exec,cpu,inner_product,ref:any,forward_training,src_f32::blocked:ab:f0 "
          "wei_f32::blocked:ab:f0,,,mb4ic5oc6,0.9\n"
          "onednn_verbose,v1,primitive,exec,cpu\nonednn_verbose\nforeign,exec,a,b,c,d,e,f,g,h\n")),
      "oneDNN: brgconv:avx2 (convolution bfloat16 mb1_ic3oc8_ih8oh8kh3) x1\n"
      "oneDNN: ref:any (inner_product float32 mb4ic5oc6; the reference kernel, slow) x1 slow\n"
      "oneDNN: jit:uni (reorder float32 1x3x8x8) x1\n");
}

}  // namespace
}  // namespace assay
