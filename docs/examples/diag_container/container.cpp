// SPDX-License-Identifier: Apache-2.0
#include "probes.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

namespace fs = std::filesystem;
using assay::probe_answer;
using assay::probe_site;
using assay::probe_state;

namespace container {
namespace {

/// Variables that this plugin reads.
constexpr const char* names[] = {"KUBERNETES_SERVICE_HOST", "NVIDIA_DRIVER_CAPABILITIES",
                                 "NVIDIA_VISIBLE_DEVICES", "container"};

/// Device nodes that computing on a GPU takes, in the order of the report.
std::vector<std::string> gpu_nodes(const probe_site& site) {
  std::vector<std::string> found;
  const auto take = [&](const char* folder, std::string_view prefix) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(site.at(folder), error)) {
      const std::string name = entry.path().filename().string();
      const std::string_view rest = std::string_view(name).substr(0, prefix.size());
      const bool numbered = name.size() > prefix.size() &&
                            std::isdigit(static_cast<unsigned char>(name[prefix.size()])) != 0;
      if (rest == prefix && numbered) {
        found.push_back(std::string(folder) + "/" + name);
      }
    }
  };
  take("/dev", "nvidia");
  take("/dev/dri", "renderD");
  std::sort(found.begin(), found.end());
  for (const char* node : {"/dev/kfd", "/dev/dxg", "/dev/nvidia-uvm"}) {
    if (is_there(site.at(node))) {
      found.emplace_back(node);
    }
  }
  return found;
}

class inside final : public assay::probe {
 public:
  [[nodiscard]] std::string id() const override { return "container.inside"; }
  [[nodiscard]] std::string summary() const override {
    return "does this process run in a container?";
  }
  probe_answer look(const probe_site& site) override {
    probe_answer answer;
    const auto found = marks_of(site);
    answer.state = found ? probe_state::yes : probe_state::no;
    answer.fact = found ? "in a container (" + found->runtime + ")" : "no sign of a container";
    if (found) {
      answer.evidence.push_back(found->evidence);
      answer.values.emplace_back("runtime", found->runtime);
      // Root inside is another user outside where the first line does not map 0 to 0.
      std::istringstream map(text_of(site.at("/proc/self/uid_map")));
      std::string first;
      std::string outside;
      if (map >> first >> outside && first == "0" && outside != "0") {
        answer.fact += ", rootless: root in it is user " + outside + " outside";
        answer.values.emplace_back("rootless", "yes");
      }
    }
    return answer;
  }
};

class devices final : public assay::probe {
 public:
  [[nodiscard]] std::string id() const override { return "container.devices"; }
  [[nodiscard]] std::string summary() const override {
    return "if this is a container, which GPU devices were passed in?";
  }
  probe_answer look(const probe_site& site) override {
    probe_answer answer;
    const auto found = marks_of(site);
    if (!found) {
      answer.fact = "no container, so that nothing needs to be passed in";
      return answer;  // unknown: the question does not arise
    }
    const std::vector<std::string> nodes = gpu_nodes(site);
    answer.state = nodes.empty() ? probe_state::no : probe_state::yes;
    answer.fact = nodes.empty() ? "no GPU device in /dev: none was passed in" : "passed in:";
    for (const std::string& node : nodes) {
      answer.fact += " " + node;
      answer.values.emplace_back("device", node);
    }
    return answer;
  }
};

}  // namespace

std::string text_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

bool is_there(const fs::path& file) {
  std::error_code error;
  return fs::exists(file, error);
}

std::map<std::string, std::string> variables_of(const probe_site& site) {
  std::map<std::string, std::string> found;
  if (site.is_this_machine()) {
    for (const char* name : names) {
      if (const char* text = std::getenv(name)) {
        found[name] = text;
      }
    }
    return found;
  }
  std::istringstream entries(text_of(site.at("/proc/1/environ")));
  for (std::string entry; std::getline(entries, entry, '\0');) {
    if (const auto equals = entry.find('='); equals != std::string::npos) {
      found[entry.substr(0, equals)] = entry.substr(equals + 1);
    }
  }
  return found;
}

std::optional<marks> marks_of(const probe_site& site) {
  static constexpr std::pair<const char*, const char*> files[] = {
      {"/run/.containerenv", "podman"},
      {"/run/secrets/kubernetes.io", "kubernetes"},
      {"/.dockerenv", "docker"},
  };
  const auto variables = variables_of(site);
  if (variables.contains("KUBERNETES_SERVICE_HOST")) {
    return marks{"kubernetes", "KUBERNETES_SERVICE_HOST is set"};
  }
  for (const auto& [file, runtime] : files) {
    if (is_there(site.at(file))) {
      return marks{runtime, std::string(file) + " is there"};
    }
  }
  if (const auto named = variables.find("container"); named != variables.end()) {
    return marks{named->second, "container=" + named->second};
  }
  return std::nullopt;
}

std::unique_ptr<assay::probe> make_inside() { return std::make_unique<inside>(); }
std::unique_ptr<assay::probe> make_devices() { return std::make_unique<devices>(); }

}  // namespace container
