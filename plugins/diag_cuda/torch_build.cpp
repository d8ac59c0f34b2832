// SPDX-License-Identifier: Apache-2.0
#include "diag_cuda/torch_build.hpp"

#include "common/probing.hpp"
#include "host/common/elf_file.hpp"

#include <cctype>
#include <string_view>

namespace diag_cuda {
namespace {

namespace fs = std::filesystem;

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// "cuda: Optional[str] = '13.0'" of version.py.
std::string cuda_in_version_file(std::string_view line) {
  if (line.rfind("cuda", 0) != 0) {
    return "";
  }
  const std::size_t open = line.find('\'');
  const std::size_t close = line.find('\'', open + 1);
  return open == std::string_view::npos || close == std::string_view::npos
             ? ""
             : std::string(line.substr(open + 1, close - open - 1));
}

/// "13" of libcudart.so.13, libcudart-d0da41ae.so.13.0.48, cudart64_13.dll.
std::string cuda_in_library_name(std::string_view name) {
  const bool windows = name.rfind("cudart64_", 0) == 0;
  if (!windows && name.rfind("libcudart", 0) != 0) {
    return "";
  }
  const std::string_view token = windows ? "cudart64_" : ".so.";
  const std::size_t at = name.find(token);
  if (at == std::string_view::npos) {
    return "";
  }
  const std::size_t from = at + token.size();
  std::size_t end = from;
  while (end < name.size() && is_digit(name[end])) {
    ++end;
  }
  // "cudart64_110": 11.0.
  std::string major(name.substr(from, end - from));
  return major.size() == 3 ? major.substr(0, 2) : major;
}

}  // namespace

torch_build look_at_torch(const fs::path& torch_dir) {
  torch_build found;
  if (torch_dir.empty()) {
    found.reason = "LibTorch's folder is not known";
    return found;
  }
  const fs::path lib = torch_dir / "lib";
  const auto any = [&](std::initializer_list<const char*> names) {
    for (const char* name : names) {
      if (probing::is_there(lib / name)) {
        return lib / name;
      }
    }
    return fs::path();
  };
  found.backend = any({"libtorch_cuda.so", "torch_cuda.dll"});
  if (found.backend.empty()) {
    if (!any({"libtorch_hip.so", "torch_hip.dll"}).empty()) {
      found.kind = build::rocm;
      found.reason = "this LibTorch is a ROCm build";
    } else if (!any({"libtorch_cpu.so", "torch_cpu.dll"}).empty()) {
      found.kind = build::cpu;
      found.reason = "this LibTorch is a CPU build";
    } else {
      found.reason = "no LibTorch in " + torch_dir.string();
    }
    return found;
  }
  found.kind = build::cuda;
  const std::string version = probing::read_text(torch_dir / "version.py").value_or("");
  for (const std::string_view line : probing::lines_of(version)) {
    if (std::string cuda = cuda_in_version_file(line); !cuda.empty()) {
      found.cuda = std::move(cuda);
      found.source = probing::trimmed(line);
      return found;
    }
  }
  for (const std::string& name : probing::names_in(lib)) {
    if (std::string cuda = cuda_in_library_name(name); !cuda.empty()) {
      found.cuda = std::move(cuda);
      found.source = name;
      return found;
    }
  }
  try {
    const elf::file backend(found.backend);
    for (const std::string& name : backend.needed()) {
      if (std::string cuda = cuda_in_library_name(name); !cuda.empty()) {
        found.cuda = std::move(cuda);
        found.source = found.backend.filename().string() + " needs " + name;
        return found;
      }
    }
    found.reason = "its files do not say for which CUDA it was built";
  } catch (const elf::error& e) {
    found.reason = e.what();
  }
  return found;
}

}  // namespace diag_cuda
