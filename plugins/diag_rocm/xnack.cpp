// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "machine.hpp"
#include "probes.hpp"
#include "targets.hpp"
#include "text.hpp"

namespace diag_rocm {

namespace {

using assay::probe_answer;
using assay::probe_site;
using assay::probe_state;

class xnack final : public assay::probe {
 public:
  explicit xnack(environment_source variables) : variables_(std::move(variables)) {}

  [[nodiscard]] std::string id() const override { return "rocm.xnack"; }
  [[nodiscard]] std::string summary() const override {
    return "does HSA_XNACK, if set, suit the GPU and the usual builds?";
  }

  probe_answer look(const probe_site& site) override {
    probe_answer answer;
    const environment variables = variables_(site);
    const std::string noretry = read_line(site.at("/sys/module/amdgpu/parameters/noretry"));
    if (!noretry.empty()) {
      answer.values.emplace_back("noretry", noretry);
    }
    if (!is_set(variables, "HSA_XNACK")) {
      answer.state = probe_state::yes;
      answer.fact = "it is not set";
      return answer;
    }
    const std::string setting = "HSA_XNACK=" + value_of(variables, "HSA_XNACK");
    answer.evidence.push_back(setting);
    std::vector<std::string> targets;
    for (const gpu& g : look_at(site).gpus) {
      if (!g.architecture.empty()) {
        targets.push_back(g.architecture);
      }
    }
    if (targets.empty() && site.architecture.rfind("gfx", 0) == 0) {
      targets.push_back(site.architecture.substr(0, site.architecture.find(':')));
    }
    if (targets.empty()) {
      answer.fact = setting + ": for which GPU is not known";
      return answer;
    }
    if (value_of(variables, "HSA_XNACK") == "0") {
      answer.state = probe_state::yes;
      answer.fact = setting + ", as builds usually expect";
      return answer;
    }
    const auto heeds = [](const std::string& name) { return !is_rdna(name); };
    const auto first = std::find_if(targets.begin(), targets.end(), heeds);
    if (first == targets.end()) {
      answer.state = probe_state::yes;
      answer.fact = setting + " does nothing on " + targets.front();
      answer.findings.emplace_back("ROCM-ENVIRONMENT-IGNORED");
      return answer;
    }
    answer.state = probe_state::no;
    answer.fact = setting + " on " + *first + ": code built for " + *first +
                  ":xnack-, as in most builds, is then not loaded";
    answer.findings.emplace_back("ROCM-XNACK-MISMATCH");
    return answer;
  }

 private:
  environment_source variables_;
};

}  // namespace

std::unique_ptr<assay::probe> make_xnack(environment_source variables) {
  return std::make_unique<xnack>(std::move(variables));
}

}  // namespace diag_rocm
