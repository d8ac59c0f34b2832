// SPDX-License-Identifier: Apache-2.0
#include "library_logs.h"

#include <ATen/core/Tensor.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "switches.h"

namespace assay_simulated {
namespace {

using Arguments = c10::ArrayRef<c10::IValue>;

long number_in(const char* variable) {
  const char* text = std::getenv(variable);
  return text ? std::strtol(text, nullptr, 0) : 0;
}

// Opened once in a process and never closed, as the libraries do.
std::FILE* log_file(const char* variable, std::FILE* otherwise) {
  const char* name = std::getenv(variable);
  std::FILE* file = name ? std::fopen(name, "a") : nullptr;
  return file ? file : otherwise;
}

const char* blas_type(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kHalf:
      return "f16_r";
    case at::kBFloat16:
      return "bf16_r";
    case at::kDouble:
      return "f64_r";
    default:
      return "f32_r";
  }
}

const char* driver_suffix(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kHalf       ? "fp16"
         : tensor.scalar_type() == at::kBFloat16 ? "bfp16"
                                                 : "";
}

void log_convolution(const std::string& kernel, Arguments arguments) {
  const at::Tensor& input = arguments[0].toTensor();
  const at::Tensor& weight = arguments[1].toTensor();
  if (input.dim() != 4) return;
  if (number_in("MIOPEN_ENABLE_LOGGING_CMD") != 0) {
    std::fprintf(stderr,
                 "MIOpen(HIP): Command [LogCmdConvolution] ./bin/MIOpenDriver conv%s -n %ld -c %ld "
                 "-H %ld -W %ld -k %ld -y %ld -x %ld -p 1 -q 1 -u 1 -v 1 -m conv -g 1 -F 1 -t 1\n",
                 driver_suffix(input), static_cast<long>(input.size(0)),
                 static_cast<long>(input.size(1)), static_cast<long>(input.size(2)),
                 static_cast<long>(input.size(3)), static_cast<long>(weight.size(0)),
                 static_cast<long>(weight.size(2)), static_cast<long>(weight.size(3)));
  }
  if (number_in("MIOPEN_LOG_LEVEL") >= 5) {
    const bool naive = kernel.starts_with("naive");
    std::fprintf(
        stderr,
        "MIOpen(HIP): Info [get_device_name] Raw device name: gfx0000\n"
        "MIOpen(HIP): Info [EvaluateInvokers] Selected: %s: %s: 0.94072, workspace_sz = 0\n",
        naive ? "ConvDirectNaiveConvFwd" : "ConvBinWinogradRxSf2x3", kernel.c_str());
  }
}

void log_batch_norm(Arguments arguments) {
  const at::Tensor& input = arguments[0].toTensor();
  if (number_in("MIOPEN_ENABLE_LOGGING_CMD") != 0 && input.dim() == 4) {
    std::fprintf(stderr,
                 "MIOpen(HIP): Command [LogCmdBNorm] ./bin/MIOpenDriver bnorm%s -n %ld -c %ld -H "
                 "%ld -W %ld -m 1 --forw 2 -b 0 -s 0 -r 0\n",
                 driver_suffix(input), static_cast<long>(input.size(0)),
                 static_cast<long>(input.size(1)), static_cast<long>(input.size(2)),
                 static_cast<long>(input.size(3)));
  }
}

// Column-major libraries: the row-major product shows with its factors swapped.
void log_product(const char* function, const at::Tensor& a, const at::Tensor& b) {
  const auto m = static_cast<long>(b.size(-1));
  const auto n = static_cast<long>(a.size(-2));
  const auto k = static_cast<long>(a.size(-1));
  const long layer = number_in("ROCBLAS_LAYER");
  if ((layer & 1) != 0) {
    static std::FILE* const file = log_file("ROCBLAS_LOG_TRACE_PATH", stderr);
    std::fprintf(file, "rocblas_%s,N,N,%ld,%ld,%ld,1,0x7f0000000000,%s,%ld,atomics_allowed\n",
                 function, m, n, k, blas_type(a), m);
    std::fflush(file);
  }
  if ((layer & 2) != 0) {
    static std::FILE* const file = log_file("ROCBLAS_LOG_BENCH_PATH", stderr);
    std::fprintf(
        file,
        "./rocblas-bench -f %s --transposeA N --transposeB N -m %ld -n %ld -k %ld --alpha 1 "
        "--a_type %s --lda %ld --beta 0 --algo 0 --solution_index 0 --flags 0\n",
        function, m, n, k, blas_type(a), m);
    std::fflush(file);
  }
}

// hipBLASLt takes what has a bias; its mask counts only without a level.
void log_product_with_bias(const at::Tensor& a, const at::Tensor& b) {
  if (std::getenv("HIPBLASLT_LOG_LEVEL") || (number_in("HIPBLASLT_LOG_MASK") & 32) == 0) return;
  static std::FILE* const file = log_file("HIPBLASLT_LOG_FILE", stdout);
  std::fprintf(file,
               "hipblaslt-bench --api_method c -m %ld -n %ld -k %ld --transA N --transB N "
               "--batch_count 1 --a_type %s --compute_type f32_r --algo_method index "
               "--solution_index 2010 --activation_type none\n",
               static_cast<long>(b.size(-1)), static_cast<long>(a.size(-2)),
               static_cast<long>(a.size(-1)), blas_type(a));
  std::fflush(file);
}

}  // namespace

void log_as_libraries(const std::string& op, const std::string& kernel, Arguments arguments) {
  if (!switches().library_logs()) return;
  if (op == "aten::miopen_convolution") {
    log_convolution(kernel, arguments);
  } else if (op == "aten::miopen_batch_norm") {
    log_batch_norm(arguments);
  } else if (op == "aten::mm") {
    log_product("gemm_ex", arguments[0].toTensor(), arguments[1].toTensor());
  } else if (op == "aten::bmm") {
    log_product("gemm_strided_batched_ex", arguments[0].toTensor(), arguments[1].toTensor());
  } else if (op == "aten::addmm") {
    log_product_with_bias(arguments[1].toTensor(), arguments[2].toTensor());
  }
}

}  // namespace assay_simulated
