// SPDX-License-Identifier: Apache-2.0
#include "library_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>

#include "collected_run.hpp"
#include "kernel_names.hpp"

namespace assay {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::uintmax_t most_bytes = std::uintmax_t{64} << 20;
constexpr std::size_t most_kernels = 4;

std::string read_file(const fs::path& file, std::uintmax_t begin) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file, error);
  if (error || size <= begin) {
    return "";
  }
  std::string text(static_cast<std::size_t>(std::min(size - begin, most_bytes)), '\0');
  std::ifstream in(file, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(begin));
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

std::size_t count_lines(const std::string& text, std::string_view mark) {
  std::size_t count = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    count += !line.empty() && line.find(mark) != std::string_view::npos ? 1 : 0;
    begin = end + 1;
  }
  return count;
}

/// "A", "A and B", "A, B and C".
std::string in_a_row(const std::vector<std::string>& names) {
  if (names.size() < 2) {
    return names.empty() ? "" : names.front();
  }
  return fmt::format("{} and {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

}  // namespace

library_trace::library_trace(const std::string& build, const std::string& device,
                             const fs::path& stem) {
  if (device == "cpu") {
    use_cpu();
  } else if (build == "rocm") {
    use_rocm(stem);
  } else {
    use_cuda(stem);
  }
}

// MIOpen: level 5 names a solver only where it searches. The runs before have filled its find-db,
// after which only level 6 does. hipBLASLt: a level would switch its mask off.
void library_trace::use_rocm(const fs::path& stem) {
  const fs::path trace = stem.string() + ".rocblas-trace";
  const fs::path bench = stem.string() + ".rocblas-bench";
  const fs::path hipblaslt = stem.string() + ".hipblaslt";
  environment_ = {{"MIOPEN_ENABLE_LOGGING_CMD", "1"},
                  {"MIOPEN_LOG_LEVEL", "6"},
                  {"ROCBLAS_LAYER", "3"},
                  {"ROCBLAS_LOG_TRACE_PATH", trace.string()},
                  {"ROCBLAS_LOG_BENCH_PATH", bench.string()},
                  {"HIPBLASLT_LOG_LEVEL", std::nullopt},
                  {"HIPBLASLT_LOG_MASK", "32"},
                  {"HIPBLASLT_LOG_FILE", hipblaslt.string()}};
  logs_ = {{"MIOpen", parse_miopen_log, "MIOpen(", place::standard_error},
           {"rocBLAS", parse_rocblas_log, "", place::file, {bench, trace}},
           {"hipBLASLt", parse_hipblaslt_log, "", place::file, {hipblaslt}}};
}

// cuDNN: CUDNN_LOGINFO_DBG up to version 8, CUDNN_LOGLEVEL_DBG from 9 on. The engine's name is
// known to the front end in LibTorch alone.
void library_trace::use_cuda(const fs::path& stem) {
  const fs::path cublas = stem.string() + ".cublas";
  const fs::path cublaslt = stem.string() + ".cublaslt";
  const fs::path cudnn = stem.string() + ".cudnn";
  const fs::path frontend = stem.string() + ".cudnn-frontend";
  environment_ = {{"CUBLAS_LOGINFO_DBG", "1"},
                  {"CUBLAS_LOGDEST_DBG", cublas.string()},
                  {"CUBLASLT_LOG_LEVEL", "2"},
                  {"CUBLASLT_LOG_MASK", std::nullopt},
                  {"CUBLASLT_LOG_FILE", cublaslt.string()},
                  {"CUDNN_LOGINFO_DBG", "1"},
                  {"CUDNN_LOGLEVEL_DBG", "3"},
                  {"CUDNN_LOGDEST_DBG", cudnn.string()},
                  {"CUDNN_FRONTEND_LOG_INFO", "1"},
                  {"CUDNN_FRONTEND_LOG_FILE", frontend.string()}};
  logs_ = {{"cuDNN", parse_cudnn_log, "", place::file, {cudnn, frontend}},
           {"cuBLAS", parse_cublas_log, "", place::file, {cublas}},
           {"cuBLASLt", parse_cublaslt_log, "", place::file, {cublaslt}}};
}

void library_trace::use_cpu() {
  environment_.emplace("ONEDNN_VERBOSE", "1");
  logs_.push_back({"oneDNN", parse_onednn_log, "onednn_verbose", place::standard_output});
}

std::string library_trace::text_of_log(const log& one, const worker_process& worker,
                                       const worker_process::printed& begin) {
  switch (one.where) {
    case place::standard_output:
      return read_file(worker.stdout_file(), begin.out_bytes);
    case place::standard_error:
      return read_file(worker.stderr_file(), begin.err_bytes);
    case place::file:
      break;
  }
  std::string text;
  for (const fs::path& file : one.files) {
    text += read_file(file, 0);
    if (!text.empty() && text.back() != '\n') {
      text += '\n';
    }
  }
  return text;
}

json library_trace::read(const worker_process& worker, const worker_process::printed& begin,
                         const json& kernels) const {
  json served = json::array();
  std::vector<std::string> silent;
  std::vector<std::string> reasons;
  for (const log& one : logs_) {
    const std::string text = text_of_log(one, worker, begin);
    const std::size_t lines = count_lines(text, one.mark);
    const library_calls calls = one.parse(text);
    if (lines == 0) {
      silent.push_back(one.library);
    } else if (calls.empty()) {
      reasons.push_back(fmt::format("{} logged {} line{}, none of which names what it served",
                                    one.library, lines, lines == 1 ? "" : "s"));
    }
    for (const library_call& call : calls) {
      served.push_back({{"library", call.library},
                        {"what", printable(call.what())},
                        {"detail", printable(call.detail())},
                        {"lines", call.lines}});
    }
  }
  if (!silent.empty()) {
    reasons.insert(reasons.begin(), in_a_row(silent) + " logged nothing");
  }
  const bool logged = !served.empty();
  bool all_of_torch = kernels.is_array() && !kernels.empty();
  for (std::size_t i = 0; kernels.is_array() && i < kernels.size(); ++i) {
    const std::string name = text_of(kernels[i], "name");
    const bool of_torch = is_kernel_of_torch(name);
    all_of_torch = all_of_torch && of_torch;
    if (i < most_kernels) {
      served.push_back(
          {{"library", of_torch ? "LibTorch" : "profiler"},
           {"what", of_torch ? "kernel " + short_kernel_name(name) : name},
           {"detail", fmt::format("kernel, {:g} a call", number_of(kernels[i], "count"))},
           {"lines", 0}});
    }
  }
  // Where every kernel is LibTorch's own, that no library spoke is the answer.
  const bool known = logged || all_of_torch;
  if (all_of_torch && !logged) {
    reasons.clear();
  }
  return {{"served", std::move(served)},
          {"state", known ? "known" : "unknown"},
          {"why", fmt::format("{}", fmt::join(reasons, "; "))}};
}

}  // namespace assay
