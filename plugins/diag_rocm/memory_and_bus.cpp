// SPDX-License-Identifier: Apache-2.0
//
// How the processor, the GPUs and their memories reach one another: large BAR and IOMMU.
#include <algorithm>

#include "machine.hpp"
#include "probes.hpp"
#include "text.hpp"

namespace diag_rocm {

namespace {

using assay::probe_answer;
using assay::probe_site;
using assay::probe_state;

class large_bar final : public assay::probe {
 public:
  [[nodiscard]] std::string id() const override { return "rocm.large_bar"; }
  [[nodiscard]] std::string summary() const override {
    return "does the processor see all of the GPU's memory (Resizable BAR)?";
  }

  probe_answer look(const probe_site& site) override {
    probe_answer answer;
    std::vector<std::string> facts;
    bool small = false;
    bool looked = false;
    const machine found = look_at(site);
    for (const gpu& g : found.gpus) {
      const std::filesystem::path folder = drm_folder(site, g.render_minor);
      const auto bytes = [&](const char* file) { return number(read_line(folder / file)); };
      const auto total = bytes("mem_info_vram_total");
      const auto visible = bytes("mem_info_vis_vram_total");
      if (!g.readable || !total || !visible) {
        continue;
      }
      looked = true;
      const std::string node = "." + std::to_string(g.node);
      answer.values.emplace_back("vram" + node, std::to_string(*total));
      if (const auto used = bytes("mem_info_vram_used")) {
        answer.values.emplace_back("vram_used" + node, std::to_string(*used));
      }
      if (g.integrated) {
        const auto gtt = bytes("mem_info_gtt_total");
        facts.push_back(described(g) + " is integrated: " + size_text(*total) +
                        " carved out by the firmware" +
                        (gtt ? " and up to " + size_text(*gtt) + " of system memory (GTT)" : ""));
        if (gtt) {
          answer.values.emplace_back("gtt" + node, std::to_string(*gtt));
        }
      } else if (*visible < *total) {
        small = true;
        facts.push_back(described(g) + ": " + size_text(*visible) + " of " + size_text(*total) +
                        " are visible to the processor");
        answer.evidence.push_back("/sys/class/drm/renderD" + std::to_string(g.render_minor) +
                                  "/device/mem_info_vis_vram_total: " + std::to_string(*visible));
      } else {
        facts.push_back(described(g) + ": all " + size_text(*total));
      }
    }
    facts.erase(std::unique(facts.begin(), facts.end()), facts.end());
    answer.fact =
        looked ? joined(facts, "; ")
               : why_unanswered(site, found, "no GPU of the amdgpu driver says how much it is");
    if (looked) {
      answer.state = small ? probe_state::no : probe_state::yes;
    }
    if (small) {
      answer.findings.emplace_back("ROCM-SMALL-BAR");
    }
    return answer;
  }
};

class iommu final : public assay::probe {
 public:
  [[nodiscard]] std::string id() const override { return "rocm.iommu"; }
  [[nodiscard]] std::string summary() const override {
    return "can several GPUs reach each other past the IOMMU?";
  }

  probe_answer look(const probe_site& site) override {
    probe_answer answer;
    const machine found = look_at(site);
    std::vector<gpu> gpus = found.gpus;
    gpus.erase(std::remove_if(gpus.begin(), gpus.end(),
                              [](const gpu& g) { return !g.readable || g.integrated; }),
               gpus.end());
    if (gpus.empty()) {
      answer.fact = why_unanswered(site, found, "no discrete AMD GPU can be read here");
      return answer;
    }
    if (gpus.size() == 1) {
      answer.state = probe_state::yes;
      answer.fact = "it does not matter with one discrete GPU";
      return answer;
    }
    for (const std::string& option : kernel_options(site)) {
      if (option.find("iommu") != std::string::npos) {
        answer.evidence.push_back("/proc/cmdline: " + option);
      }
    }
    std::size_t translated = 0;
    std::size_t unsaid = 0;
    for (const gpu& g : gpus) {
      const std::string group = "/sys/bus/pci/devices/" + g.pci + "/iommu_group";
      const std::string type = read_line(site.at(group + "/type"));
      if (!is_there(site.at("/sys/bus/pci/devices/" + g.pci)) ||
          (is_there(site.at(group)) && type.empty())) {
        ++unsaid;
      } else if (!type.empty() && type != "identity") {
        ++translated;
        answer.evidence.push_back(group + "/type: " + type);
      }
    }
    if (translated > 0) {
      answer.state = probe_state::no;
      answer.fact = "the IOMMU translates for " + std::to_string(translated) + " of " +
                    counted(gpus.size(), "GPU") +
                    ": transfers between them can hang or crawl; boot with iommu=pt";
      answer.findings.emplace_back("ROCM-RCCL-IOMMU");
    } else if (unsaid > 0) {
      by_options(site, answer);
    } else {
      answer.state = probe_state::yes;
      answer.fact =
          "the IOMMU is off or in pass-through mode for all " + counted(gpus.size(), "GPU");
    }
    return answer;
  }

 private:
  static void by_options(const probe_site& site, probe_answer& answer) {
    for (const std::string& option : kernel_options(site)) {
      if (option == "iommu=pt" || option == "iommu=off" || option == "amd_iommu=off" ||
          option == "intel_iommu=off" || option == "iommu.passthrough=1") {
        answer.state = probe_state::yes;
        answer.fact = "the kernel was booted with " + option;
        return;
      }
    }
    answer.fact = "the kernel does not say what its IOMMU does for the GPUs";
  }
};

}  // namespace

std::unique_ptr<assay::probe> make_large_bar() { return std::make_unique<large_bar>(); }
std::unique_ptr<assay::probe> make_iommu() { return std::make_unique<iommu>(); }

}  // namespace diag_rocm
