// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "host/diagnosis/library_log.hpp"
#include "worker_process.hpp"

namespace assay {

/// How the libraries under LibTorch are made to log in one worker, and what they logged there.
class library_trace {
 public:
  /// `build`: of LibTorch ("rocm", "cuda", "cpu"). Logs that may be files lie below `stem`, the
  /// begin of a path that nobody else uses.
  library_trace(const std::string& build, const std::string& device,
                const std::filesystem::path& stem);

  /// For the worker that is traced.
  [[nodiscard]] const environment_changes& environment() const { return environment_; }

  /// Reads the logs of a worker that is past its check, from `begin` on where they are its own
  /// output. Answers the members `served`, `state` and `why` of a `library_trace` record.
  /// `kernels`: as the profiler listed them in the run for the evidence.
  [[nodiscard]] nlohmann::json read(const worker_process& worker,
                                    const worker_process::printed& begin,
                                    const nlohmann::json& kernels) const;

 private:
  enum class place { file, standard_output, standard_error };
  struct log {
    std::string library;
    library_calls (*parse)(std::string_view text);
    std::string_view mark;  // in every line of the library; "": all lines are its
    place where = place::file;
    std::vector<std::filesystem::path> files = {};
  };

  void use_rocm(const std::filesystem::path& stem);
  void use_cuda(const std::filesystem::path& stem);
  void use_cpu();
  [[nodiscard]] static std::string text_of_log(const log& one, const worker_process& worker,
                                               const worker_process::printed& begin);

  environment_changes environment_;
  std::vector<log> logs_;
};

}  // namespace assay
