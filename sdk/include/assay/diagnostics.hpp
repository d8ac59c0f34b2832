// SPDX-License-Identifier: Apache-2.0
//
// Probes and classifiers, the two things that a diagnostic plugin brings. Most of what is known
// about failures needs neither: rules and catalogue entries are data, in a file NAME.assay.toml
// beside the plugin (docs/writing-a-diagnostic-plugin.md).
#pragma once

#include <assay/abi.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

/// `unknown` is for "could not look", with the reason in the answer's `fact`.
enum class probe_state { yes, no, unknown };

/// Where a probe is to look.
struct probe_site {
  std::filesystem::path root = "/";   // every file is read below it
  std::filesystem::path torch_dir{};  // LibTorch's folder; empty: not known
  std::string architecture{};         // of the GPU in question; empty: not known

  /// A path of the machine, below the root: "/dev/kfd" in a test tree is ROOT/dev/kfd.
  [[nodiscard]] std::filesystem::path at(const std::filesystem::path& absolute) const {
    return root / absolute.relative_path();
  }
  /// Whether this is the machine itself: what is not read from files (this process's rights, its
  /// environment, libraries that load) is of the machine, and says nothing about another tree.
  [[nodiscard]] bool is_this_machine() const { return root == "/" || root.empty(); }
};

/// What a probe found.
struct probe_answer {
  probe_state state = probe_state::unknown;
  std::string fact{};                   // one line for people
  std::vector<std::string> evidence{};  // lines that prove it, as they were read
  std::vector<std::string> findings{};  // codes of the catalogue, where it is a fault
  std::vector<std::pair<std::string, std::string>> values{};  // further facts, by name
};

/// One question about the environment. look() may throw: the answer is then unknown, with what() as
/// the reason. It runs in a process of its own, which is ended after a deadline.
class probe {
 public:
  virtual ~probe() = default;
  [[nodiscard]] virtual std::string id() const = 0;       // "rocm.kfd_readable"
  [[nodiscard]] virtual std::string summary() const = 0;  // the question, one line
  virtual probe_answer look(const probe_site& site) = 0;
};

/// One classifier's answer. `code` names an entry of the catalogue, which holds cause and advice;
/// either is given here only where more is known of this case.
struct diagnosis {
  std::string code;
  std::string cause{};
  std::string advice{};
  std::string confidence = "possible";  // or "likely": text alone is never more
  std::vector<std::string> evidence{};  // the lines it rests on, as they stand in the failure
};

/// A view of assay_failure, whose members it has; valid during classify() only. Members may be
/// empty.
struct failure {
  std::string_view check, status, phase, device;
  std::string_view error_type, error_text, stderr_text, warnings;
  std::string_view torch_version, torch_build;
  std::string_view stdout_text, log, trace, end, operators, dtype, architecture, device_name;
  std::string_view platform, chain, environment, probes;
};

/// Reads one failure; answers with what it recognises, or with nothing. classify() may throw: only
/// this classifier's own answer is lost, and the run says so.
class classifier {
 public:
  virtual ~classifier() = default;
  [[nodiscard]] virtual std::string id() const = 0;       // "torch.out_of_memory"
  [[nodiscard]] virtual std::string summary() const = 0;  // one line
  virtual std::vector<diagnosis> classify(const failure& f) = 0;
};

}  // namespace assay
