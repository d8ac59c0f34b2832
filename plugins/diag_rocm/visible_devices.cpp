// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "advice.hpp"
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

std::vector<std::string> names_in_settings(std::vector<std::string> settings) {
  for (std::string& each : settings) {
    each.resize(std::min(each.find('='), each.size()));
  }
  return settings;
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
      if (gpus.size() > 1) {
        answer.fact += "; HIP's numbers: " + numbers_of(gpus);
      }
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
      answer.values.emplace_back(
          "advice_instead.ROCM-VISIBLE-DEVICES",
          "Unset them, or name each GPU once (without them: " + numbers_of(gpus) + "):\n" +
              unsetting_steps(system, names_in_settings(seen.settings)));
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
    const machine found = look_at(site);
    const std::vector<gpu> gpus = readable(found.gpus);
    if (gpus.empty()) {
      answer.fact = why_unanswered(site, found, "no AMD GPU can be read here");
      return answer;
    }
    const environment variables = variables_(site);
    const std::vector<gpu> left = visible_gpus(gpus, variables, system).left;
    std::vector<int> discrete;  // nodes
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
        discrete.push_back(left[i].node);
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
    const std::vector<gpu> counted = gpus_that_hip_counts(gpus, variables, system);
    const std::string numbers = numbers_for(discrete, counted);
    answer.fact = joined(integrated, ", ") +
                  " is visible beside a discrete GPU, and libraries choose what all visible GPUs "
                  "can do: hide it with HIP_VISIBLE_DEVICES=" +
                  numbers;
    answer.values.emplace_back("hip_visible_devices", numbers);
    answer.values.emplace_back("advice_instead",
                               "Hide it. HIP's numbers here: " + numbers_of(counted) + ".\n" +
                                   setting_step(system, "HIP_VISIBLE_DEVICES", numbers));
    answer.findings.emplace_back("ROCM-INTEGRATED-GPU");
    return answer;
  }

 private:
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
