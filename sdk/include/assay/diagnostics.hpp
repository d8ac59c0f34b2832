// SPDX-License-Identifier: Apache-2.0
//
// Probes and classifiers, the two things that a diagnostic plugin brings.
#pragma once

#include <assay/abi.h>

#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// `unknown` is for "could not look", with the reason in the answer's `fact`.
enum class probe_state { yes, no, unknown };

/// What a probe found.
struct probe_answer {
  probe_state state = probe_state::unknown;
  std::string fact{};  // one line
};

/// One fact about the environment. run() may throw: the answer is then unknown, with what() as the
/// reason. It is called from one thread, at most once at a time.
class probe {
 public:
  virtual ~probe() = default;
  [[nodiscard]] virtual std::string id() const = 0;       // "rocm.kfd_readable"
  [[nodiscard]] virtual std::string summary() const = 0;  // one line
  virtual probe_answer run() = 0;
};

/// One classifier's answer. `code` names an entry of the catalogue.
struct diagnosis {
  std::string code;
  std::string cause;
  std::string advice;
  std::string confidence = "possible";  // or "likely": text alone is never more
  std::vector<std::string> evidence{};  // the lines it rests on, as they stand in the failure
};

/// A view of assay_failure; valid during classify() only. Members may be empty.
struct failure {
  std::string_view check, status, phase, device;
  std::string_view error_type, error_text, stderr_text, warnings;
  std::string_view torch_version, torch_build;
};

/// Reads one failure; answers with what it recognises, or with nothing. classify() may throw: only
/// this classifier's own answer is lost, and the run says so.
class classifier {
 public:
  virtual ~classifier() = default;
  [[nodiscard]] virtual std::string id() const = 0;       // "rocm.hiprtc"
  [[nodiscard]] virtual std::string summary() const = 0;  // one line
  virtual std::vector<diagnosis> classify(const failure& f) = 0;
};

}  // namespace assay
