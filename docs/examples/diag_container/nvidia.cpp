// SPDX-License-Identifier: Apache-2.0
#include "probes.hpp"

#include <sstream>

using assay::probe_answer;
using assay::probe_site;
using assay::probe_state;

namespace container {
namespace {

bool has_word(const std::string& list, const std::string& word) {
  std::istringstream words(list);
  for (std::string one; std::getline(words, one, ',');) {
    if (one == word) {
      return true;
    }
  }
  return false;
}

class nvidia_toolkit final : public assay::probe {
 public:
  [[nodiscard]] std::string id() const override { return "container.nvidia_toolkit"; }
  [[nodiscard]] std::string summary() const override {
    return "does this host's Docker know the NVIDIA Container Toolkit?";
  }
  probe_answer look(const probe_site& site) override {
    probe_answer answer;
    if (const auto found = marks_of(site)) {
      answer.fact = "only the host can tell, and this is a container (" + found->runtime + ")";
      return answer;
    }
    const bool docker = is_there(site.at("/usr/bin/dockerd"));
    const bool toolkit = is_there(site.at("/usr/bin/nvidia-ctk")) ||
                         is_there(site.at("/usr/bin/nvidia-container-runtime"));
    const char* settings = "/etc/docker/daemon.json";
    const bool told =
        text_of(site.at(settings)).find("nvidia-container-runtime") != std::string::npos;
    if (!docker) {
      answer.fact = "there is no Docker here (/usr/bin/dockerd)";
      return answer;
    }
    answer.state = toolkit && told ? probe_state::yes : probe_state::no;
    if (!toolkit) {
      answer.fact = "the toolkit is not installed (/usr/bin/nvidia-ctk is not there)";
    } else if (!told) {
      answer.fact = std::string("the toolkit is installed, but ") + settings +
                    " does not name nvidia-container-runtime";
      answer.values.emplace_back(
          "advice_instead",
          "The toolkit is there; tell Docker of it:\n"
          "$ sudo nvidia-ctk runtime configure --runtime=docker && sudo systemctl restart docker");
    } else {
      answer.fact = std::string(settings) + " names nvidia-container-runtime";
    }
    return answer;
  }
};

class driver_capabilities final : public assay::probe {
 public:
  [[nodiscard]] std::string id() const override { return "container.driver_capabilities"; }
  [[nodiscard]] std::string summary() const override {
    return "do the container's variables let NVIDIA's GPUs and CUDA library in?";
  }
  probe_answer look(const probe_site& site) override {
    probe_answer answer;
    if (!marks_of(site)) {
      answer.fact = "no container, so that they mean nothing";
      return answer;
    }
    const auto variables = variables_of(site);
    const auto gpus = variables.find("NVIDIA_VISIBLE_DEVICES");
    const auto libraries = variables.find("NVIDIA_DRIVER_CAPABILITIES");
    if (gpus == variables.end() && libraries == variables.end()) {
      answer.fact = "NVIDIA_VISIBLE_DEVICES and NVIDIA_DRIVER_CAPABILITIES are not set";
      return answer;
    }
    answer.state = probe_state::yes;
    for (const auto& one : {gpus, libraries}) {
      if (one != variables.end()) {
        answer.evidence.push_back(one->first + "=" + one->second);
      }
    }
    answer.fact = "they do";
    if (gpus != variables.end() &&
        (gpus->second.empty() || gpus->second == "void" || gpus->second == "none")) {
      return refused(std::move(answer), "no GPU is handed in: " + gpus->first + "=" + gpus->second);
    }
    if (libraries != variables.end() && !has_word(libraries->second, "compute") &&
        !has_word(libraries->second, "all")) {
      return refused(std::move(answer), "libcuda.so.1 stays outside: " + libraries->first + "=" +
                                            libraries->second + " has no compute");
    }
    return answer;
  }

 private:
  static probe_answer refused(probe_answer answer, std::string fact) {
    answer.state = probe_state::no;
    answer.fact = std::move(fact);
    answer.findings.emplace_back("CONTAINER-DRIVER-CAPABILITIES");
    return answer;
  }
};

}  // namespace

std::unique_ptr<assay::probe> make_nvidia_toolkit() { return std::make_unique<nvidia_toolkit>(); }
std::unique_ptr<assay::probe> make_driver_capabilities() {
  return std::make_unique<driver_capabilities>();
}

}  // namespace container
