// SPDX-License-Identifier: Apache-2.0
//
// HIPRTC, AMD's run-time compiler, by itself: found, opened, and asked to compile. It needs no GPU
// when the architecture is named.
#pragma once

#include <assay/diagnostics.hpp>
#include <boost/dll/shared_library.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "environment.hpp"

namespace diag_rocm {

/// What HIPRTC made of one source text.
struct compiled {
  int code = 0;  // hiprtcResult: 0 is success
  std::string code_name{};
  std::string log{};
  std::string object{};  // an ELF file for an AMD GPU
  [[nodiscard]] bool ok() const { return code == 0; }
};

/// Throws std::runtime_error with the loader's words where the library does not open, or lacks one
/// of HIPRTC's functions.
class hiprtc {
 public:
  /// A path, or a bare name that the system's loader looks up.
  explicit hiprtc(const std::filesystem::path& file);

  [[nodiscard]] compiled compile(const std::string& source, const std::string& architecture,
                                 const std::vector<std::string>& options = {}) const;
  [[nodiscard]] std::filesystem::path path() const { return path_; }

 private:
  boost::dll::shared_library library_;
  std::filesystem::path path_;
};

/// The compiler library that HIPRTC opens when it is first used. HIPRTC crashes without it, so it
/// is looked for before.
class code_object_manager {
 public:
  code_object_manager() = default;
  explicit code_object_manager(const std::filesystem::path& file);

  /// Architectures that it compiles for; empty where it does not say.
  [[nodiscard]] std::vector<std::string> architectures() const;

 private:
  boost::dll::shared_library library_;
};

struct found_hiprtc {
  std::filesystem::path file{};  // a path, or the bare name under which the loader found it
  std::vector<std::string> looked_in{};
};

/// The HIPRTC that this LibTorch would use: beside LibTorch, in ROCm's Python packages, in
/// /opt/rocm*, by the loader. `file` is empty where there is none.
found_hiprtc find_hiprtc(const assay::probe_site& site, const environment& variables);

/// Opens the libamd_comgr that this HIPRTC will open; throws std::runtime_error with a line that
/// names it where it does not load.
code_object_manager open_code_object_manager(const std::filesystem::path& hiprtc_file);

/// The architecture that an object file for an AMD GPU was made for; empty: it is no such file.
std::string object_architecture(const std::string& object);

}  // namespace diag_rocm
