// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "machine.hpp"
#include "probes.hpp"
#include "text.hpp"
#include "visibility.hpp"

namespace diag_rocm {

namespace {

using assay::probe_answer;
using assay::probe_site;
using assay::probe_state;

std::vector<gpu> readable(std::vector<gpu> gpus) {
  gpus.erase(std::remove_if(gpus.begin(), gpus.end(), [](const gpu& g) { return !g.readable; }),
             gpus.end());
  return gpus;
}

class visible_devices final : public assay::probe {
 public:
  explicit visible_devices(environment_source variables) : variables_(std::move(variables)) {}

  [[nodiscard]] std::string id() const override { return "rocm.visible_devices"; }
  [[nodiscard]] std::string summary() const override {
    return "do the *_VISIBLE_DEVICES variables leave HIP the GPUs they mean?";
  }

  probe_answer look(const probe_site& site) override {
    probe_answer answer;
    const system_kind system = system_of(site);
    const std::vector<gpu> gpus = readable(look_at(site).gpus);
    const environment variables = variables_(site);
    const visibility seen = visible_gpus(gpus, variables, system);
    answer.evidence = seen.settings;
    if (seen.settings.empty()) {
      answer.state = probe_state::yes;
      answer.fact = "none of them is set";
      return answer;
    }
    if (!seen.ignored.empty() && (!gpus.empty() || system == system_kind::windows)) {
      answer.findings.emplace_back("ROCM-ENVIRONMENT-IGNORED");
    }
    if (gpus.empty()) {
      answer.fact = joined(seen.settings, ", ") +
                    ": which GPUs there are to choose from is not "
                    "known here";
      return answer;
    }
    answer.values.emplace_back("visible", std::to_string(seen.left.size()));
    if (!seen.problems.empty()) {
      answer.state = probe_state::no;
      answer.fact = joined(seen.problems, "; ");
      answer.findings.emplace_back("ROCM-VISIBLE-DEVICES");
      return answer;
    }
    answer.state = probe_state::yes;
    answer.fact = joined(seen.settings, ", ") + " leaves " + std::to_string(seen.left.size()) +
                  " of " + counted(gpus.size(), "GPU");
    for (const std::string& text : seen.ignored) {
      answer.fact += "; " + text;
    }
    return answer;
  }

 private:
  environment_source variables_;
};

class integrated_gpu final : public assay::probe {
 public:
  explicit integrated_gpu(environment_source variables) : variables_(std::move(variables)) {}

  [[nodiscard]] std::string id() const override { return "rocm.integrated_gpu"; }
  [[nodiscard]] std::string summary() const override {
    return "is a processor's own GPU kept out of the way of a discrete one?";
  }

  probe_answer look(const probe_site& site) override {
    probe_answer answer;
    const system_kind system = system_of(site);
    const std::vector<gpu> gpus = readable(look_at(site).gpus);
    if (gpus.empty()) {
      answer.fact = "no AMD GPU can be read here";
      return answer;
    }
    const environment variables = variables_(site);
    const std::vector<gpu> left = visible_gpus(gpus, variables, system).left;
    std::vector<std::string> discrete;  // HIP's numbers
    std::vector<std::string> integrated;
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (!left[i].architecture.empty() && !left[i].known && !left[i].integrated) {
        answer.fact = left[i].architecture +
                      " is not known to this version: whether it is part of a processor cannot be "
                      "said";
        if (gpus.size() > 1) {
          return answer;
        }
      }
      if (left[i].integrated) {
        integrated.push_back(described(left[i]));
      } else {
        discrete.push_back(std::to_string(i));
      }
    }
    answer.state = probe_state::yes;
    if (integrated.empty() || discrete.empty()) {
      answer.fact = gpus.size() == 1     ? "there is one GPU only"
                    : integrated.empty() ? "no integrated GPU is visible"
                                         : "only integrated GPUs are visible";
      return answer;
    }
    answer.state = probe_state::no;
    answer.fact = joined(integrated, ", ") +
                  " is visible beside a discrete GPU, and libraries choose what all visible GPUs "
                  "can do: hide it with HIP_VISIBLE_DEVICES=" +
                  in_numbers(discrete, left, gpus, variables);
    answer.values.emplace_back("hip_visible_devices", in_numbers(discrete, left, gpus, variables));
    answer.findings.emplace_back("ROCM-INTEGRATED-GPU");
    return answer;
  }

 private:
  /// HIP_VISIBLE_DEVICES counts what ROCR_VISIBLE_DEVICES left, not what an earlier value of its
  /// own did.
  static std::string in_numbers(const std::vector<std::string>& discrete,
                                const std::vector<gpu>& left, const std::vector<gpu>& gpus,
                                const environment& variables) {
    environment outer;
    if (is_set(variables, "ROCR_VISIBLE_DEVICES")) {
      outer.emplace("ROCR_VISIBLE_DEVICES", value_of(variables, "ROCR_VISIBLE_DEVICES"));
    }
    const std::vector<gpu> base = visible_gpus(gpus, outer, system_kind::linux_os).left;
    std::vector<std::string> numbers;
    for (const std::string& each : discrete) {
      const int node = left[*number(each)].node;
      const auto at =
          std::find_if(base.begin(), base.end(), [&](const gpu& g) { return g.node == node; });
      numbers.push_back(std::to_string(at - base.begin()));
    }
    return joined(numbers, ",");
  }

  environment_source variables_;
};

}  // namespace

std::unique_ptr<assay::probe> make_visible_devices(environment_source variables) {
  return std::make_unique<visible_devices>(std::move(variables));
}

std::unique_ptr<assay::probe> make_integrated_gpu(environment_source variables) {
  return std::make_unique<integrated_gpu>(std::move(variables));
}

}  // namespace diag_rocm
