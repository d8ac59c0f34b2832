// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "library_folders.hpp"
#include "loading_order.hpp"
#include "loading_probes.hpp"
#include "tree.hpp"

namespace diag_rocm {
namespace {

namespace fs = std::filesystem;
using assay::probe_answer;
using assay::probe_site;
using assay::probe_state;

constexpr std::size_t most_lines = 8;

class libraries_probe : public assay::probe {
 public:
  explicit libraries_probe(environment_source source) : source_(std::move(source)) {}

  [[nodiscard]] std::string id() const override { return "rocm.libraries"; }
  [[nodiscard]] std::string summary() const override {
    return "do the ROCm libraries of this LibTorch load?";
  }

  probe_answer look(const probe_site& site) override {
    probe_answer answer;
    if (site.torch_dir.empty()) {
      answer.fact = "no LibTorch is known";
      return answer;
    }
    const fs::path library = site.at(site.torch_dir / "lib" / "libtorch_hip.so");
    if (!tree::is_file(library)) {
      answer.fact = tree::is_file(site.at(site.torch_dir / "lib" / "torch_hip.dll"))
                        ? "what a DLL needs is not looked at"
                        : "the LibTorch in " + site.torch_dir.string() +
                              " has no libtorch_hip: it is not a build for ROCm";
      return answer;
    }
    try {
      judge(site, library, answer);
    } catch (const std::runtime_error& error) {
      answer.fact = error.what();
    }
    return answer;
  }

 private:
  void judge(const probe_site& site, const fs::path& library, probe_answer& answer) const {
    const environment variables = source_(site);
    const load_plan plan = plan_loading(library, site, variables);
    const std::string name = tree::shown(library, site.root).string();
    if (plan.missing.empty()) {
      answer.state = probe_state::yes;
      answer.fact = name + " finds all " + std::to_string(plan.files.size() - 1) +
                    " libraries that it needs, directly or not";
      return;
    }
    // ROCm's Python packages are loaded by Python's torch before LibTorch.
    const std::vector<fs::path> packages = torch_folders(site);
    const load_plan with_packages = plan_loading(library, site, variables, packages);
    if (with_packages.missing.empty()) {
      std::string folders;
      for (const fs::path& folder : packages) {
        folders += (folders.empty() ? "" : ":") + tree::shown(folder, site.root).string();
      }
      answer.state = probe_state::yes;
      answer.fact = plan.missing.front().name +
                    " lies in a package that Python's torch loads by itself; other programs need " +
                    "LD_LIBRARY_PATH=" + folders;
      answer.values.emplace_back("LD_LIBRARY_PATH", folders);
      return;
    }
    const missing_library& first = with_packages.missing.front();
    answer.state = probe_state::no;
    answer.fact = first.name + ", which " + first.needed_by + " needs, is not on the loader's path";
    if (const std::size_t more = with_packages.missing.size() - 1; more > 0) {
      answer.fact += ", and " + std::to_string(more) + " more";
    }
    for (const missing_library& one : with_packages.missing) {
      if (answer.evidence.size() < most_lines) {
        answer.evidence.push_back(one.needed_by + " needs " + one.name);
      }
    }
    answer.findings.emplace_back("ROCM-LIBRARY-MISSING");
    say_where(site, variables, first.name, answer);
  }

  /// Where the missing one lies all the same, off the loader's path.
  static void say_where(const probe_site& site, const environment& variables,
                        const std::string& name, probe_answer& answer) {
    for (const fs::path& folder : rocm_folders(site, variables)) {
      const std::string stem = name.substr(0, name.find(".so"));
      const fs::path same = folder / name;
      if (tree::is_file(same)) {
        answer.fact += "; it lies in " + tree::shown(folder, site.root).string();
        return;
      }
      if (const fs::path other = find_library({folder}, stem); !other.empty()) {
        answer.fact += "; there is another version: " + tree::shown(other, site.root).string();
        return;
      }
    }
  }

  environment_source source_;
};

}  // namespace

std::unique_ptr<assay::probe> make_libraries(environment_source source) {
  return std::make_unique<libraries_probe>(std::move(source));
}

}  // namespace diag_rocm
