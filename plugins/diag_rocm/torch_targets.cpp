// SPDX-License-Identifier: Apache-2.0
#include "torch_targets.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "advice.hpp"
#include "fat_binary.hpp"
#include "gpu_target.hpp"
#include "tree.hpp"

namespace diag_rocm {
namespace {

using assay::probe_answer;
using assay::probe_site;
using assay::probe_state;

/// LibTorch's HIP library; empty: there is none.
std::filesystem::path hip_library(const probe_site& site) {
  std::filesystem::path library;
  for (const char* name : {"libtorch_hip.so", "torch_hip.dll"}) {
    const auto file = site.at(site.torch_dir / "lib" / name);
    if (!site.torch_dir.empty() && tree::is_file(file)) {
      library = file;
    }
  }
  return library;
}

class torch_targets_probe : public assay::probe {
 public:
  explicit torch_targets_probe(environment_source source) : source_(std::move(source)) {}

  [[nodiscard]] std::string id() const override { return "rocm.torch_targets"; }
  [[nodiscard]] std::string summary() const override {
    return "does LibTorch's HIP library hold code for this GPU?";
  }

  probe_answer look(const probe_site& site) override {
    probe_answer answer;
    if (site.torch_dir.empty()) {
      answer.fact = "no LibTorch is known";
      return answer;
    }
    const std::filesystem::path library = hip_library(site);
    if (library.empty()) {
      answer.fact = "the LibTorch in " + site.torch_dir.string() +
                    " has no libtorch_hip: it is not a build for ROCm";
      return answer;
    }
    const std::string name = tree::shown(library, site.root).string();
    answer.values.emplace_back("library", name);
    try {
      const fat_binary code = read_fat_binary(library);
      if (code.elsewhere) {
        judge_kpack(site, library, name, answer);
      } else {
        judge(site, code, name, answer);
      }
    } catch (const std::runtime_error& error) {
      answer.state = probe_state::unknown;
      answer.fact = error.what();
    }
    return answer;
  }

 private:
  void judge(const probe_site& site, const fat_binary& code, const std::string& name,
             probe_answer& answer) const {
    if (!code.has_code) {
      answer.fact = name + " has no section with GPU code (.hip_fatbin)";
      return;
    }
    if (code.bundles == 0) {
      answer.fact = "the GPU code in " + name + " cannot be read: " + code.problem;
      return;
    }
    std::vector<std::string> targets;
    for (const auto& [target, count] : code.targets) {
      targets.push_back(target);
    }
    const std::optional<lack> missing = compare(site, targets, name, answer);
    if (missing && code.unread == 0) {
      if (std::string steps =
              advice_on_lack(site, missing->variables, missing->lacking, missing->served);
          !steps.empty()) {
        answer.values.emplace_back("advice", std::move(steps));
      }
    } else if (missing) {
      // What could not be read may hold it.
      answer.state = probe_state::unknown;
      answer.findings.clear();
      answer.fact += " (" + std::to_string(code.unread) + " of " +
                     std::to_string(code.unread + code.bundles) +
                     " parts could not be read: " + code.problem + ")";
    }
  }

  void judge_kpack(const probe_site& site, const std::filesystem::path& library,
                   const std::string& name, probe_answer& answer) const {
    std::vector<std::string> targets;
    for (const auto& [target, file] : kpack_targets(library)) {
      targets.push_back(target);
      answer.evidence.push_back(tree::shown(file, site.root).string());
    }
    if (compare(site, targets, "the .kpack files of " + name, answer)) {
      answer.findings = {"ROCM-KPACK-MISSING"};  // that package can be installed
    }
  }

  /// GPUs that the code is missing for, and those that it is there for.
  struct lack {
    environment variables;
    std::vector<gpu_target> lacking, served;
  };

  /// Nothing where no code is missing.
  std::optional<lack> compare(const probe_site& site, const std::vector<std::string>& targets,
                              const std::string& where, probe_answer& answer) const {
    std::string list;
    for (const std::string& target : targets) {
      list += (list.empty() ? "" : ", ") + target;
    }
    list = list.empty() ? "no GPU" : list;
    answer.values.emplace_back("targets", list);
    lack found{source_(site), {}, {}};
    const std::vector<gpu_target> gpus = gpu_targets(site, found.variables);
    if (gpus.empty()) {
      answer.fact = "no GPU is known; " + where + " has code for " + list;
      return std::nullopt;
    }
    std::string missing;
    std::string served;
    for (const gpu_target& gpu : gpus) {
      const auto match = std::find_if(targets.begin(), targets.end(), [&](const auto& code) {
        return code_serves(code, gpu.architecture);
      });
      if (match == targets.end()) {
        found.lacking.push_back(gpu);
        missing += (missing.empty() ? "" : ", ") + gpu.architecture + " (" + gpu.source + ")";
      } else {
        found.served.push_back(gpu);
        served += (served.empty() ? "" : ", ") + gpu.architecture +
                  (*match == without_features(gpu.architecture) ? "" : " (by " + *match + ")");
      }
    }
    if (missing.empty()) {
      answer.state = probe_state::yes;
      answer.fact = where + " has code for " + served;
      return std::nullopt;
    }
    answer.state = probe_state::no;
    answer.fact = where + " has no code for " + missing + ", but for " + list;
    answer.findings = {"ROCM-NO-CODE-FOR-GPU"};
    return found;
  }

  environment_source source_;
};

}  // namespace

std::optional<std::vector<std::string>> code_targets_of_torch(const probe_site& site) {
  const std::filesystem::path library = hip_library(site);
  if (library.empty()) {
    return std::nullopt;
  }
  try {
    const fat_binary code = read_fat_binary(library);
    std::vector<std::string> targets;
    if (code.elsewhere) {
      for (const auto& [target, file] : kpack_targets(library)) {
        targets.push_back(target);
      }
      return targets;
    }
    if (!code.has_code || code.bundles == 0 || code.unread > 0) {
      return std::nullopt;
    }
    for (const auto& [target, count] : code.targets) {
      targets.push_back(target);
    }
    return targets;
  } catch (const std::runtime_error&) {
    return std::nullopt;  // the probe of it says why
  }
}

std::unique_ptr<assay::probe> make_torch_targets(environment_source source) {
  return std::make_unique<torch_targets_probe>(std::move(source));
}

}  // namespace diag_rocm
