// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <optional>

#include "machine.hpp"
#include "probes.hpp"
#include "targets.hpp"
#include "text.hpp"

namespace diag_rocm {

namespace {

using assay::probe_answer;
using assay::probe_site;
using assay::probe_state;

const std::string variable = "HSA_OVERRIDE_GFX_VERSION";

/// "10.3.0" as the runtime reads it: three numbers, the first up to 63, the others up to 255.
std::optional<std::array<std::uint32_t, 3>> parse_version(std::string_view text) {
  constexpr std::array<std::uint64_t, 3> most{63, 255, 255};
  const auto parts = split(text, '.');
  std::array<std::uint32_t, 3> version{};
  if (parts.size() != version.size()) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < version.size(); ++i) {
    const auto value = number(parts[i]);
    if (!value || *value > most[i] || parts[i].substr(0, 2) == "0x") {
      return std::nullopt;
    }
    version[i] = static_cast<std::uint32_t>(*value);
  }
  return version;
}

void add_finding(probe_answer& answer, const char* code) {
  if (std::find(answer.findings.begin(), answer.findings.end(), code) == answer.findings.end()) {
    answer.findings.emplace_back(code);
  }
}

/// "10" of gfx1032: minor and stepping have a digit each.
std::string_view major_of(std::string_view name) {
  return name.size() < 6 ? name : name.substr(3, name.size() - 5);
}

/// Gathers what is said of several GPUs: the worst decides.
class judgement {
 public:
  void fine(const std::string& text) { say(text); }
  void doubtful(const std::string& text) {
    say(text);
    doubt_ = true;
  }
  void wrong(const std::string& text, const char* code, probe_answer& answer) {
    say(text);
    fault_ = true;
    add_finding(answer, code);
  }
  void finish(probe_answer& answer) const {
    answer.state = fault_ ? probe_state::no : doubt_ ? probe_state::unknown : probe_state::yes;
    answer.fact = joined(lines_, "; ");
  }

 private:
  void say(const std::string& text) {
    if (std::find(lines_.begin(), lines_.end(), text) == lines_.end()) {
      lines_.push_back(text);
    }
  }
  std::vector<std::string> lines_{};
  bool fault_ = false, doubt_ = false;
};

class override_probe final : public assay::probe {
 public:
  explicit override_probe(environment_source variables) : variables_(std::move(variables)) {}

  [[nodiscard]] std::string id() const override { return "rocm.override"; }
  [[nodiscard]] std::string summary() const override {
    return "does HSA_OVERRIDE_GFX_VERSION, if set, suit the GPU?";
  }

  probe_answer look(const probe_site& site) override {
    probe_answer answer;
    environment set;
    for (const auto& [name, value] : variables_(site)) {
      if (name == variable || name.rfind(variable + "_", 0) == 0) {
        set.emplace(name, value);
        answer.evidence.push_back(name + "=" + value);
      }
    }
    const system_kind system = system_of(site);
    if (system == system_kind::windows && !set.empty()) {
      answer.state = probe_state::yes;
      answer.fact = variable + " is set, but Windows does not read it";
      answer.findings.emplace_back("ROCM-ENVIRONMENT-IGNORED");
      return answer;
    }
    std::vector<gpu> gpus = look_at(site).gpus;
    gpus.erase(std::remove_if(gpus.begin(), gpus.end(),
                              [](const gpu& g) { return g.architecture.empty(); }),
               gpus.end());
    if (gpus.empty() && site.architecture.rfind("gfx", 0) == 0) {
      gpu given;
      given.architecture = site.architecture.substr(0, site.architecture.find(':'));
      given.known = find_target(given.architecture) != nullptr;
      gpus.push_back(given);
    }
    if (set.empty()) {
      unset(site, system, gpus, answer);
      return answer;
    }
    judgement all;
    for (const auto& [name, value] : set) {
      check_form(name, value, gpus, all, answer);
    }
    if (gpus.empty()) {
      all.doubtful("which GPU it would be for is not known");
    }
    for (const gpu& g : gpus) {
      const std::string own = variable + "_" + std::to_string(g.node);
      const auto at = set.find(set.contains(own) ? own : variable);
      if (at != set.end()) {
        if (const auto version = parse_version(at->second)) {
          judge(site, g, *at, target_name((*version)[0], (*version)[1], (*version)[2]), all,
                answer);
        }
      }
    }
    all.finish(answer);
    return answer;
  }

 private:
  static void unset(const probe_site& site, system_kind system, const std::vector<gpu>& gpus,
                    probe_answer& answer) {
    answer.state = probe_state::yes;
    answer.fact = "it is not set";
    const auto built = targets_of_torch(site);
    const auto has = [&](const std::string& name) {
      return std::find(built.begin(), built.end(), name) != built.end();
    };
    for (const gpu& g : gpus) {
      const target* const known = find_target(g.architecture);
      if (built.empty() || known == nullptr || known->override_value.empty() ||
          has(g.architecture) || system == system_kind::windows) {
        continue;
      }
      const auto version = parse_version(known->override_value);
      if (version && has(target_name((*version)[0], (*version)[1], (*version)[2]))) {
        answer.fact += "; this LibTorch has nothing for " + g.architecture + ", and " + variable +
                       "=" + std::string(known->override_value) +
                       " would lend it the code of a near relation, at the risk of hangs";
        answer.values.emplace_back("override_possible", std::string(known->override_value));
        return;
      }
    }
  }

  static void check_form(const std::string& name, const std::string& value,
                         const std::vector<gpu>& gpus, judgement& all, probe_answer& answer) {
    if (!parse_version(value)) {
      all.wrong(name + "=" + value +
                    " is not of the form 10.3.0 (three decimal numbers), so the "
                    "runtime will not start",
                "ROCM-OVERRIDE-INVALID", answer);
    }
    if (name == variable) {
      return;
    }
    const auto node = number(std::string_view(name).substr(variable.size() + 1));
    const bool there = std::any_of(gpus.begin(), gpus.end(), [&](const gpu& g) {
      return node == static_cast<std::uint64_t>(g.node);
    });
    if (!there && !gpus.empty() && gpus.front().node >= 0) {
      std::vector<std::string> nodes;
      for (const gpu& g : gpus) {
        nodes.push_back(std::to_string(g.node));
      }
      all.fine(name + " names no GPU, and is ignored: its number is the KFD node's (here " +
               joined(nodes, ", ") + "), not HIP's");
      add_finding(answer, "ROCM-ENVIRONMENT-IGNORED");
    }
  }

  static void judge(const probe_site& site, const gpu& g,
                    const std::pair<const std::string, std::string>& entry,
                    const std::string& pretended, judgement& all, probe_answer& answer) {
    const std::string text = entry.first + "=" + entry.second;
    if (pretended == g.architecture) {
      all.fine(text + " is what " + g.architecture + " is anyway");
      return;
    }
    const target* const real = find_target(g.architecture);
    const target* const other = find_target(pretended);
    if (real == nullptr && major_of(pretended) != major_of(g.architecture)) {
      all.wrong(text + " makes the runtime load code for " + pretended + " on " + g.architecture +
                    ", another generation with other instructions: kernels hang, crash or give "
                    "wrong results",
                "ROCM-OVERRIDE-WRONG", answer);
      return;
    }
    if (real == nullptr) {
      all.doubtful(g.architecture + " is not known to this version: whether code for " + pretended +
                   " runs on it cannot be said");
      return;
    }
    const auto generation = [](std::string_view name) { return name.substr(0, name.size() - 1); };
    if (other == nullptr && generation(pretended) == generation(real->name)) {
      all.doubtful(text + " stands for " + pretended + ", which is not known to this version");
      return;
    }
    if (other == nullptr || other->group != real->group) {
      std::string usual;
      if (!real->override_value.empty()) {
        usual = "; " + std::string(real->override_value) + " is its near relation";
      }
      all.wrong(text + " makes the runtime load code for " + pretended + " on " + g.architecture +
                    ", another instruction set: kernels hang, crash or give wrong results" + usual,
                "ROCM-OVERRIDE-WRONG", answer);
      return;
    }
    const auto built = targets_of_torch(site);
    if (std::find(built.begin(), built.end(), g.architecture) != built.end()) {
      all.fine(text + " is not needed: this LibTorch has code for " + g.architecture);
      add_finding(answer, "ROCM-OVERRIDE-UNNEEDED");
      return;
    }
    std::string closer;
    if (!real->override_value.empty() && real->override_value != entry.second) {
      closer = "; " + std::string(real->override_value) + " is closer to it";
    }
    all.fine(text + ": " + g.architecture + " runs code for " + pretended + ", a near relation" +
             closer);
  }

  environment_source variables_;
};

}  // namespace

std::unique_ptr<assay::probe> make_override(environment_source variables) {
  return std::make_unique<override_probe>(std::move(variables));
}

}  // namespace diag_rocm
