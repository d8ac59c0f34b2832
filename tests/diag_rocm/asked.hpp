// SPDX-License-Identifier: Apache-2.0
//
// What the tests of the probes share.
#pragma once

#include <assay/diagnostics.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "environment.hpp"
#include "sysroot.hpp"
#include "temp_dir.hpp"

namespace diag_rocm::testing {

inline std::filesystem::path test_dir() { return DIAG_ROCM_TEST_DIR; }
inline std::filesystem::path trees() { return test_dir() / "trees"; }

/// A machine made of a few lines, for as long as the object lives.
class made_machine {
 public:
  explicit made_machine(std::string_view lines) {
    make_sysroot(lines, trees(), folder_.path());
    site_.root = folder_.path();
  }
  [[nodiscard]] const assay::probe_site& site() const { return site_; }
  [[nodiscard]] assay::probe_site& site() { return site_; }
  [[nodiscard]] const assay::testing::temp_dir& folder() const { return folder_; }

  assay::probe_answer ask(const std::unique_ptr<assay::probe>& p) const { return p->look(site_); }

 private:
  assay::testing::temp_dir folder_{};
  assay::probe_site site_{};
};

/// These variables, wherever the probe looks.
inline environment_source given(environment variables) {
  return [variables = std::move(variables)](const assay::probe_site&) { return variables; };
}

inline bool finds(const assay::probe_answer& answer, std::string_view code) {
  return std::find(answer.findings.begin(), answer.findings.end(), code) != answer.findings.end();
}

inline bool says(const assay::probe_answer& answer, std::string_view text) {
  return answer.fact.find(text) != std::string::npos;
}

/// A value of the answer; empty: it has none of this name.
inline std::string value_in(const assay::probe_answer& answer, std::string_view name) {
  for (const auto& [key, text] : answer.values) {
    if (key == name) {
      return text;
    }
  }
  return {};
}

inline std::string state_name(assay::probe_state state) {
  return state == assay::probe_state::yes  ? "yes"
         : state == assay::probe_state::no ? "no"
                                           : "unknown";
}

}  // namespace diag_rocm::testing
