// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "container_marks.hpp"
#include "identity.hpp"
#include "machine.hpp"
#include "probes.hpp"
#include "text.hpp"

namespace diag_rocm {

namespace {

using assay::probe_answer;
using assay::probe_site;
using assay::probe_state;

class container final : public assay::probe {
 public:
  explicit container(environment_source variables) : variables_(std::move(variables)) {}

  [[nodiscard]] std::string id() const override { return "rocm.container"; }
  [[nodiscard]] std::string summary() const override {
    return "if this is a container or WSL, was the GPU handed into it?";
  }

  probe_answer look(const probe_site& site) override {
    probe_answer answer;
    const system_kind system = system_of(site);
    if (system == system_kind::windows) {
      answer.state = probe_state::yes;
      answer.fact = "Windows itself";
      return answer;
    }
    const auto marks = container_of(site, variables_(site));
    std::string place = marks ? "a container (" + marks->kind + ")" : "";
    if (system == system_kind::wsl) {
      place = marks ? place + " in WSL" : "WSL";
      answer.evidence.push_back("/proc/version: " + read_line(site.at("/proc/version")));
    }
    if (marks) {
      answer.evidence.push_back(marks->evidence);
    }
    answer.values.emplace_back("place", place.empty() ? "no container" : place);
    if (system == system_kind::wsl) {
      in_wsl(site, place, answer);
    } else if (marks) {
      in_container(site, place, answer);
    } else {
      answer.state = probe_state::yes;
      answer.fact = "no sign of a container";
    }
    return answer;
  }

 private:
  static void in_wsl(const probe_site& site, const std::string& place, probe_answer& answer) {
    std::vector<std::string> missing;
    if (!find_node(site, "/dev/dxg")) {
      missing.emplace_back("/dev/dxg");
    }
    if (!is_there(site.at("/usr/lib/wsl/lib/libdxcore.so"))) {
      missing.emplace_back("/usr/lib/wsl/lib/libdxcore.so");
    }
    if (missing.empty()) {
      answer.state = probe_state::yes;
      answer.fact = place +
                    " with /dev/dxg: only GPUs that AMD's driver for Windows supports in "
                    "WSL can be used";
      return;
    }
    answer.state = probe_state::no;
    answer.fact = place + " without " + joined(missing, " and ");
    answer.findings.emplace_back("ROCM-WSL-NO-GPU");
  }

  static void in_container(const probe_site& site, const std::string& place, probe_answer& answer) {
    std::vector<std::string> missing;
    if (!find_node(site, "/dev/kfd")) {
      missing.emplace_back("/dev/kfd");
    }
    if (nodes_in(site, "/dev/dri", "renderD").empty()) {
      missing.emplace_back("/dev/dri/renderD*");
    }
    if (missing.empty()) {
      answer.state = probe_state::yes;
      answer.fact = place + " with /dev/kfd and render nodes";
      return;
    }
    answer.fact = place + " without " + joined(missing, " and ");
    const machine host = look_at(site);
    if (!host.has_amd_gpu()) {
      // A machine without AMD GPUs looks the same from inside.
      answer.fact += "; /sys shows no AMD GPU of the host either";
      return;
    }
    answer.state = probe_state::no;
    answer.fact += ", though the host has an AMD GPU";
    if (!host.kfd) {
      // What keeps it from having one is another probe's finding.
      answer.fact +=
          "; but the host itself has no /dev/kfd to hand in (/sys/class/kfd is not there)";
      answer.values.emplace_back(
          "advice_instead",
          "The host itself has no /dev/kfd, so no option of the container can hand it in. On the "
          "host, load the driver and see the device appear:\n"
          "$ sudo modprobe amdgpu && ls -l /dev/kfd /dev/dri/renderD*");
      return;
    }
    answer.findings.emplace_back("ROCM-CONTAINER-DEVICES");
  }

  environment_source variables_;
};

}  // namespace

std::unique_ptr<assay::probe> make_container(environment_source variables) {
  return std::make_unique<container>(std::move(variables));
}

}  // namespace diag_rocm
