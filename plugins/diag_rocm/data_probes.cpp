// SPDX-License-Identifier: Apache-2.0
#include "data_probes.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "advice.hpp"
#include "gpu_target.hpp"
#include "library_data.hpp"
#include "library_environment.hpp"
#include "machine.hpp"
#include "tree.hpp"

namespace diag_rocm {
namespace {

using assay::probe_answer;
using assay::probe_site;
using assay::probe_state;

/// What was seen for one architecture.
struct one_answer {
  bool there = false;
  std::string fact{};
  std::string finding{};
};

class data_probe : public assay::probe {
 public:
  data_probe(std::string name, std::string library, environment_source source)
      : name_(std::move(name)), library_(std::move(library)), source_(std::move(source)) {}

  [[nodiscard]] std::string id() const override { return "rocm." + name_ + "_data"; }
  [[nodiscard]] std::string summary() const override {
    return "has " + library_ + " files for this GPU?";
  }

  probe_answer look(const probe_site& site) override {
    probe_answer answer;
    const environment variables = source_(site);
    const data_folder data = read(site, variables);
    const std::string folder = tree::shown(data.folder, site.root).string();
    if (data.library.empty() && data.folder.empty() && data.named_by.empty()) {
      answer.fact = "it is not beside LibTorch, in /opt/rocm or on the loader's path";
      return answer;
    }
    if (!data.library.empty()) {
      answer.values.emplace_back("library", tree::shown(data.library, site.root).string());
    }
    if (data.folder.empty()) {
      no_folder(site, variables, data, answer);
      return answer;
    }
    answer.values.emplace_back("folder", folder);
    answer.values.emplace_back("targets", data.target_list());
    const std::vector<gpu_target> targets = gpu_targets(site, variables);
    if (targets.empty()) {
      answer.fact =
          "no GPU is known; " + library_ + " has files for " + listed(data) + " in " + folder;
      return answer;
    }
    answer.state = probe_state::yes;
    std::vector<gpu_target> lacking;
    std::vector<gpu_target> served;
    for (const gpu_target& target : targets) {
      const one_answer one = judge(site, variables, data, without_features(target.architecture));
      (one.there ? served : lacking).push_back(target);
      if (!one.there) {
        answer.state = probe_state::no;
      }
      answer.fact += (answer.fact.empty() ? "" : "; ") + one.fact;
      if (!one.finding.empty() && std::find(answer.findings.begin(), answer.findings.end(),
                                            one.finding) == answer.findings.end()) {
        answer.findings.push_back(one.finding);
      }
    }
    answer.fact = library_ + " in " + folder + ": " + answer.fact;
    if (answer.state == probe_state::no) {
      answer.evidence.push_back(folder + " has files for " + listed(data));
      if (std::string steps = advice_on(site, variables, lacking, served); !steps.empty()) {
        answer.values.emplace_back("advice", std::move(steps));
      }
    }
    return answer;
  }

 protected:
  [[nodiscard]] virtual data_folder read(const probe_site& site,
                                         const environment& variables) const = 0;
  [[nodiscard]] virtual one_answer judge(const probe_site& site, const environment& variables,
                                         const data_folder& data,
                                         const std::string& architecture) const = 0;
  [[nodiscard]] virtual std::string finding_without_folder(const environment&) const { return {}; }
  [[nodiscard]] virtual std::string advice_on(const probe_site&, const environment&,
                                              const std::vector<gpu_target>&,
                                              const std::vector<gpu_target>&) const {
    return {};
  }

  [[nodiscard]] static std::string listed(const data_folder& data) {
    const std::string list = data.target_list();
    return list.empty() ? "no GPU at all" : list;
  }

 private:
  void no_folder(const probe_site& site, const environment& variables, const data_folder& data,
                 probe_answer& answer) const {
    answer.state = probe_state::no;
    if (!data.named_by.empty()) {
      answer.fact = data.named_by + "=" + value_of(variables, data.named_by) + ", where " +
                    library_ + " looks for its files, is not a folder";
      answer.evidence.push_back(data.named_by + "=" + value_of(variables, data.named_by));
    } else {
      answer.fact = library_ + " (" + tree::shown(data.library, site.root).string() +
                    ") has no folder of files for any GPU beside it";
    }
    if (std::string finding = finding_without_folder(variables); !finding.empty()) {
      answer.findings.push_back(std::move(finding));
    }
  }

  std::string name_;
  std::string library_;
  environment_source source_;
};

std::string count_of(const target_files& files) {
  return std::to_string(files.count) + (files.count == 1 ? " file" : " files");
}

class rocblas_probe : public data_probe {
 public:
  explicit rocblas_probe(environment_source source)
      : data_probe("rocblas", "rocBLAS", std::move(source)) {}

 protected:
  [[nodiscard]] data_folder read(const probe_site& site,
                                 const environment& variables) const override {
    return rocblas_data(site, variables);
  }
  [[nodiscard]] std::string finding_without_folder(const environment&) const override {
    return "ROCM-ROCBLAS-NO-FOLDER";
  }
  [[nodiscard]] std::string advice_on(const probe_site& site, const environment& variables,
                                      const std::vector<gpu_target>& lacking,
                                      const std::vector<gpu_target>& served) const override {
    return advice_on_lack(site, variables, lacking, served);
  }
  [[nodiscard]] one_answer judge(const probe_site&, const environment&, const data_folder& data,
                                 const std::string& architecture) const override {
    const auto found = data.targets.find(architecture);
    if (found == data.targets.end() || (!found->second.index && !data.plain_index)) {
      return {false,
              found == data.targets.end()
                  ? "none for " + architecture
                  : count_of(found->second) + " for " + architecture + ", but no index (" +
                        "TensileLibrary_lazy_" + architecture + ".dat)",
              "ROCM-ROCBLAS-NO-TARGET"};
    }
    const std::string fact = count_of(found->second) + " for " + architecture;
    // On RDNA4 hipBLASLt serves what rocBLAS is not tuned for.
    if (found->second.tuned == 0 && !architecture.starts_with("gfx12")) {
      return {true, fact + ", of which none is tuned: it works, but slowly",
              "ROCM-ROCBLAS-FALLBACK-ONLY"};
    }
    return {true, fact, {}};
  }
};

class hipblaslt_probe : public data_probe {
 public:
  explicit hipblaslt_probe(environment_source source)
      : data_probe("hipblaslt", "hipBLASLt", std::move(source)) {}

 protected:
  [[nodiscard]] data_folder read(const probe_site& site,
                                 const environment& variables) const override {
    return hipblaslt_data(site, variables);
  }
  [[nodiscard]] std::string finding_without_folder(const environment& variables) const override {
    return asked_for(variables) ? "ROCM-HIPBLASLT-NO-TARGET" : "";
  }
  [[nodiscard]] one_answer judge(const probe_site&, const environment& variables,
                                 const data_folder& data,
                                 const std::string& architecture) const override {
    const auto found = data.targets.find(architecture);
    if (found != data.targets.end() && (found->second.index || data.plain_index)) {
      return {true, count_of(found->second) + " for " + architecture, {}};
    }
    // LibTorch sends matrix products there by itself on these only.
    constexpr std::array preferred{"gfx90a", "gfx942", "gfx950", "gfx1200", "gfx1201"};
    const bool sent_there =
        std::find(preferred.begin(), preferred.end(), architecture) != preferred.end();
    std::string fact = "none for " + architecture;
    if (!sent_there && !asked_for(variables)) {
      return {false, fact + ", as usual for this GPU: rocBLAS serves it", {}};
    }
    return {false, fact, "ROCM-HIPBLASLT-NO-TARGET"};
  }

 private:
  static bool asked_for(const environment& variables) {
    constexpr std::array names{"TORCH_BLAS_PREFER_HIPBLASLT", "TORCH_BLAS_PREFER_CUBLASLT",
                               "ROCBLAS_USE_HIPBLASLT"};
    return std::any_of(names.begin(), names.end(),
                       [&](const char* name) { return value_of(variables, name) == "1"; });
  }
};

class miopen_probe : public data_probe {
 public:
  explicit miopen_probe(environment_source source)
      : data_probe("miopen", "MIOpen", std::move(source)) {}

 protected:
  [[nodiscard]] data_folder read(const probe_site& site,
                                 const environment& variables) const override {
    return miopen_data(site, variables);
  }
  [[nodiscard]] one_answer judge(const probe_site& site, const environment&,
                                 const data_folder& data,
                                 const std::string& architecture) const override {
    const auto found = data.targets.find(architecture);
    if (found == data.targets.end()) {
      return {false,
              "none for " + architecture +
                  ": it works, but compiles and tries out each new shape at its first use",
              {}};
    }
    std::string fact = count_of(found->second) + " for " + architecture;
    const std::vector<unsigned> sizes = tuned_sizes(data, architecture);
    const auto gpus = look_at(site).gpus;
    const auto gpu = std::find_if(gpus.begin(), gpus.end(), [&](const auto& one) {
      return one.architecture == architecture && one.compute_units > 0;
    });
    if (gpu == gpus.end() || sizes.empty()) {
      return {true, fact, {}};
    }
    // MIOpen counts work-group processors, two compute units each, on some RDNA GPUs.
    const bool fits = std::any_of(sizes.begin(), sizes.end(), [&](unsigned size) {
      return size == gpu->compute_units || size * 2 == gpu->compute_units;
    });
    if (!fits) {
      fact += ", but tuned for other sizes than " + std::to_string(gpu->compute_units) +
              " compute units";
    }
    return {true, fact, {}};
  }

 private:
  static std::vector<unsigned> tuned_sizes(const data_folder& data,
                                           const std::string& architecture) {
    std::vector<unsigned> sizes;
    for (const auto& file : tree::entries(data.folder, architecture)) {
      const miopen_name name = read_miopen_name(file.filename().string());
      if (name.architecture == architecture && name.compute_units > 0) {
        sizes.push_back(name.compute_units);
      }
    }
    return sizes;
  }
};

}  // namespace

std::vector<std::unique_ptr<assay::probe>> data_probes(const environment_source& source) {
  std::vector<std::unique_ptr<assay::probe>> made;
  made.push_back(std::make_unique<rocblas_probe>(source));
  made.push_back(std::make_unique<hipblaslt_probe>(source));
  made.push_back(std::make_unique<miopen_probe>(source));
  return made;
}

}  // namespace diag_rocm
