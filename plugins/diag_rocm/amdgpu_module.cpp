// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "machine.hpp"
#include "probes.hpp"
#include "text.hpp"

namespace diag_rocm {

namespace {

using assay::probe_answer;
using assay::probe_site;
using assay::probe_state;

/// The line that keeps amdgpu from being loaded: "/etc/modprobe.d/x.conf: blacklist amdgpu".
std::optional<std::string> blacklisting(const probe_site& site) {
  for (const std::string& option : kernel_options(site)) {
    constexpr std::string_view key = "modprobe.blacklist=";
    if (option.substr(0, key.size()) == key) {
      for (const std::string_view name : split(std::string_view(option).substr(key.size()), ',')) {
        if (name == "amdgpu") {
          return "/proc/cmdline: " + option;
        }
      }
    }
  }
  for (const char* const folder : {"/etc/modprobe.d", "/run/modprobe.d", "/lib/modprobe.d"}) {
    for (const std::string& name : names_in(site.at(folder))) {
      if (name.size() < 5 || name.substr(name.size() - 5) != ".conf") {
        continue;
      }
      const std::string file = folder + ("/" + name);
      const file_text read = read_file(site.at(file));
      for (const std::string_view line : lines_of(read.text)) {
        const auto words = words_of(line);
        if (words.size() >= 2 && (words[0] == "blacklist" || words[0] == "install") &&
            words[1] == "amdgpu") {
          return file + ": " + std::string(trimmed(line));
        }
      }
    }
  }
  return std::nullopt;
}

class amdgpu_module final : public assay::probe {
 public:
  [[nodiscard]] std::string id() const override { return "rocm.amdgpu_module"; }
  [[nodiscard]] std::string summary() const override {
    return "is the amdgpu driver loaded and live?";
  }

  probe_answer look(const probe_site& site) override {
    probe_answer answer;
    const system_kind system = system_of(site);
    if (system == system_kind::windows) {
      answer.fact = "Windows has no amdgpu module: the display driver takes its place";
      return answer;
    }
    if (system == system_kind::wsl) {
      answer.fact = "WSL needs no amdgpu module: the driver is the one of Windows";
      return answer;
    }
    if (!is_there(site.at("/sys/module"))) {
      answer.fact = "/sys/module cannot be seen here";
      return answer;
    }
    const std::string kernel = read_line(site.at("/proc/sys/kernel/osrelease"));
    if (!kernel.empty()) {
      answer.values.emplace_back("kernel", kernel);
    }
    const std::filesystem::path module = site.at("/sys/module/amdgpu");
    if (is_there(module)) {
      loaded(site, module, answer);
    } else {
      not_loaded(site, answer);
    }
    return answer;
  }

 private:
  static void loaded(const probe_site& site, const std::filesystem::path& module,
                     probe_answer& answer) {
    // A driver that is part of the kernel itself has no initstate.
    const std::string state = read_line(module / "initstate");
    const std::string version = read_line(module / "version");
    answer.values.emplace_back("driver_version", version.empty() ? "of the kernel" : version);
    for (const char* const name : {"noretry", "gttsize", "vramlimit", "mes", "sched_policy"}) {
      const std::string value = read_line(module / "parameters" / name);
      if (!value.empty()) {
        answer.values.emplace_back(std::string("parameter.") + name, value);
      }
    }
    for (const std::string& option : kernel_options(site)) {
      if (option.rfind("amdgpu.", 0) == 0) {
        answer.evidence.push_back("/proc/cmdline: " + option);
      }
    }
    if (!state.empty()) {
      answer.evidence.push_back("/sys/module/amdgpu/initstate: " + state);
    }
    if (state.empty() || state == "live") {
      answer.state = probe_state::yes;
      answer.fact = version.empty() ? "the kernel's own amdgpu driver is live"
                                    : "amdgpu " + version + " (DKMS) is live";
    } else {
      answer.state = probe_state::no;
      answer.fact = "the amdgpu driver is loaded but not live: its state is \"" + state + "\"";
      answer.findings.emplace_back("ROCM-NO-DRIVER");
    }
  }

  static void not_loaded(const probe_site& site, probe_answer& answer) {
    const machine found = look_at(site);
    if (!found.has_amd_gpu()) {
      // Not "no": that would be taken for the reason.
      answer.fact = why_unanswered(
          site, found,
          "the amdgpu driver is not loaded, and no AMD GPU is seen that would need it");
      return;
    }
    answer.fact = "the amdgpu driver is not loaded";
    if (found.gpus.empty() && std::none_of(found.pci.begin(), found.pci.end(),
                                           [](const pci_device& d) { return d.driver.empty(); })) {
      answer.fact += ": every AMD GPU is left to another one (" + found.pci.front().driver + ")";
      return;
    }
    answer.state = probe_state::no;
    for (const std::string& option : kernel_options(site)) {
      if (option == "nomodeset") {
        answer.fact += ": the kernel was booted with nomodeset";
        answer.evidence.emplace_back("/proc/cmdline: nomodeset");
        answer.findings.emplace_back("ROCM-NOMODESET");
        return;
      }
    }
    if (const auto line = blacklisting(site)) {
      answer.fact += ": it is kept out by " + line->substr(0, line->find(':'));
      answer.evidence.push_back(*line);
    }
    answer.findings.emplace_back("ROCM-NO-DRIVER");
  }
};

}  // namespace

std::unique_ptr<assay::probe> make_amdgpu_module() { return std::make_unique<amdgpu_module>(); }

}  // namespace diag_rocm
