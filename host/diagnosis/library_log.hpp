// SPDX-License-Identifier: Apache-2.0
//
// What the logs of the libraries under LibTorch say of who served an operator. Text in, calls out:
// lines that are none of the library's, or broken, are passed over.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay {

struct library_call {
  std::string library;    // "MIOpen"
  std::string operation;  // "conv", "gemm", "cublasSgemm"
  std::string kernel;     // the solver, solution or algorithm; "": the library did not name it
  std::string sizes;      // "m=128 n=64 k=32"
  std::string dtype;      // "float16"; "": not told
  std::string note;       // what else is worth knowing
  bool slow = false;      // the kernel is the library's last resort
  int lines = 1;          // how many lines of the log said so

  /// The kernel, or the operation where the library named none.
  [[nodiscard]] std::string what() const;
  /// Everything else in one line.
  [[nodiscard]] std::string detail() const;
};

using library_calls = std::vector<library_call>;

/// MIOpen's standard error at MIOPEN_LOG_LEVEL 5 or more with MIOPEN_ENABLE_LOGGING_CMD.
library_calls parse_miopen_log(std::string_view text);
/// Bench and trace lines of ROCBLAS_LAYER=3. Both describe the same calls: traces count only where
/// there is no bench line.
library_calls parse_rocblas_log(std::string_view text);
/// Bench lines (HIPBLASLT_LOG_MASK=32), else trace lines.
library_calls parse_hipblaslt_log(std::string_view text);
/// CUBLAS_LOGINFO_DBG=1.
library_calls parse_cublas_log(std::string_view text);
/// CUBLASLT_LOG_LEVEL=2 or more.
library_calls parse_cublaslt_log(std::string_view text);
/// CUDNN_LOGLEVEL_DBG=3, and the lines of CUDNN_FRONTEND_LOG_INFO=1.
library_calls parse_cudnn_log(std::string_view text);
/// ONEDNN_VERBOSE=1.
library_calls parse_onednn_log(std::string_view text);

}  // namespace assay
