// SPDX-License-Identifier: Apache-2.0
//
// Finds LibTorch and the engine for it by looking at files; LibTorch is not loaded, and Python is
// asked (without importing torch) only where files do not tell: see python_torch.hpp.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace assay {

struct torch_install {
  std::filesystem::path dir;  // has lib/
  std::string version;        // "2.11.0+cu130"
  std::string build;          // "rocm", "cuda" or "cpu": which GPU library lies in lib/
  std::vector<std::filesystem::path> libraries;  // libc10, libtorch_cpu: canonical, in load order
  std::optional<std::filesystem::path> backend;  // libtorch_hip or libtorch_cuda
  std::vector<std::filesystem::path> library_dirs;  // for the worker's library path (ROCm wheels)
  std::string git_hash;  // of LibTorch's sources; "" where its files do not tell
  std::string found_by;  // "--torch", "the active Python environment", "the engine's own"
};

struct engine_choice {
  torch_install torch;
  std::filesystem::path engine;  // the engine library
};

/// An engine that lies beside this program.
struct engine_install {
  std::string torch_version;  // "2.11"
  std::filesystem::path library;
  std::optional<std::filesystem::path> built_with;
};

/// A LibTorch that was asked for.
struct torch_request {
  std::filesystem::path dir;
  std::string origin;  // for people: "--torch", "ASSAY_TORCH", "FILE: torch"
};

/// The engines under `libexec_dir`, newest LibTorch first.
std::vector<engine_install> installed_engines(const std::filesystem::path& libexec_dir);

/// Looks at one LibTorch: its folder (has lib/), its lib folder, a site-packages folder that has
/// torch/, or a virtual environment. Throws usage_error when it is none.
torch_install inspect_torch(const std::filesystem::path& dir, const std::string& found_by);

/// `requested`, else the active Python environment's torch, else the folder that the newest engine
/// was built with. Throws usage_error when `requested` is no LibTorch, and tool_error when there is
/// none: one line, what was found, what is needed, what to do.
torch_install find_torch(const std::optional<torch_request>& requested,
                         const std::filesystem::path& libexec_dir,
                         const std::map<std::string, std::string>& variables);

/// The same, with the engine for it; throws tool_error where there is none.
engine_choice choose_engine(const std::optional<torch_request>& requested,
                            const std::filesystem::path& libexec_dir,
                            const std::map<std::string, std::string>& variables);

}  // namespace assay
