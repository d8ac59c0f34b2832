// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "advice.hpp"
#include "environment_rules.hpp"
#include "machine.hpp"
#include "probes.hpp"
#include "text.hpp"

namespace diag_rocm {

namespace {

using assay::probe_answer;
using assay::probe_site;
using assay::probe_state;

class environment_probe final : public assay::probe {
 public:
  explicit environment_probe(environment_source variables) : variables_(std::move(variables)) {}

  [[nodiscard]] std::string id() const override { return "rocm.environment"; }
  [[nodiscard]] std::string summary() const override {
    return "is the environment free of variables that slow, break or change ROCm's libraries?";
  }

  probe_answer look(const probe_site& site) override {
    probe_answer answer;
    const machine found = look_at(site);
    std::string architecture = site.architecture.substr(0, site.architecture.find(':'));
    for (const gpu& g : found.gpus) {
      if (architecture.empty() && !g.architecture.empty()) {
        architecture = g.architecture;
      }
    }
    if (!found.has_amd_gpu() && architecture.rfind("gfx", 0) != 0 &&
        system_of(site) == system_kind::linux_os) {
      // Some of these variables are for other makers' GPUs too, and right there.
      answer.fact =
          why_unanswered(site, found, "no AMD GPU is seen whose libraries would read them");
      return answer;
    }
    const environment variables = variables_(site);
    const std::vector<remark> remarks = remarks_on(variables, site, architecture);
    std::vector<std::string> parts;
    for (const remark& r : remarks) {
      const std::string text = r.setting + " " + r.text;
      parts.push_back(text);
      answer.evidence.push_back(text);
      if (std::find(answer.findings.begin(), answer.findings.end(), r.code) ==
          answer.findings.end()) {
        answer.findings.emplace_back(r.code);
      }
    }
    tell_apart(remarks, answer);
    advise(remarks, system_of(site), answer);
    leftovers(variables, site, answer);
    if (remarks.empty()) {
      answer.state = probe_state::yes;
      answer.fact = "no such variable is set";
      return answer;
    }
    // What is merely not read does no harm.
    const bool harmless = std::all_of(remarks.begin(), remarks.end(),
                                      [](const remark& r) { return r.code == codes::ignored; });
    answer.state = harmless ? probe_state::yes : probe_state::no;
    constexpr std::size_t shown = 4;
    const std::size_t more = parts.size() > shown ? parts.size() - shown : 0;
    parts.resize(parts.size() - more);
    answer.fact =
        joined(parts, "; ") + (more == 0 ? "" : "; and " + std::to_string(more) + " more");
    return answer;
  }

 private:
  /// For each finding what was seen of it, and of no other.
  static void tell_apart(const std::vector<remark>& remarks, probe_answer& answer) {
    if (answer.findings.size() < 2) {
      return;
    }
    for (const std::string& code : answer.findings) {
      std::vector<std::string> lines;
      for (const remark& r : remarks) {
        if (r.code == code) {
          lines.push_back(r.setting + " " + r.text);
        }
      }
      answer.values.emplace_back("fact." + code, joined(lines, "; "));
      answer.values.emplace_back("evidence." + code, joined(lines, "\n"));
    }
  }

  /// For each finding the variables that it is about, and no others.
  static void advise(const std::vector<remark>& remarks, system_kind system, probe_answer& answer) {
    for (const std::string& code : answer.findings) {
      if (code == codes::hiprtc_tmpdir) {
        continue;  // the folder can be made as well: the catalogue says how
      }
      std::vector<std::string> names;
      for (const remark& r : remarks) {
        for (const std::string& name : r.names) {
          if (r.code == code && std::find(names.begin(), names.end(), name) == names.end()) {
            names.push_back(name);
          }
        }
      }
      answer.values.emplace_back("advice_instead." + code, unsetting_steps(system, names));
    }
  }

  /// RCCL reads files too, which no look at the environment shows.
  static void leftovers(const environment& variables, const probe_site& site,
                        probe_answer& answer) {
    for (const std::string& file :
         {std::string("/etc/rccl.conf"), value_of(variables, "HOME") + "/.rccl.conf",
          value_of(variables, "NCCL_CONF_FILE")}) {
      if (!file.empty() && is_there(path_in(site, file))) {
        answer.values.emplace_back("rccl_settings", file);
        answer.evidence.push_back(file + " sets variables of RCCL");
      }
    }
  }

  environment_source variables_;
};

}  // namespace

std::unique_ptr<assay::probe> make_environment(environment_source variables) {
  return std::make_unique<environment_probe>(std::move(variables));
}

}  // namespace diag_rocm
