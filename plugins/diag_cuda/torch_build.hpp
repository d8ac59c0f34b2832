// SPDX-License-Identifier: Apache-2.0
//
// For which CUDA a LibTorch was built, by its files.
#pragma once

#include <filesystem>
#include <string>

namespace diag_cuda {

enum class build { unknown, cpu, rocm, cuda };

struct torch_build {
  build kind = build::unknown;
  std::string cuda{};               // "13.0", or only "13"; empty: not found
  std::string source{};             // the line or file name that says so
  std::string reason{};             // why it is not a CUDA build, or not known
  std::filesystem::path backend{};  // libtorch_cuda.so, where it is there
};

torch_build look_at_torch(const std::filesystem::path& torch_dir);

}  // namespace diag_cuda
