// SPDX-License-Identifier: Apache-2.0
//
// Each text of the case files beside this, run through the rules that are shipped.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "explained.hpp"
#include "host/common/toml.hpp"

namespace {

using namespace assay;
using namespace assay::testing;

struct text_case {
  std::string name, text, klass, confidence;
  failure_facts facts;
  std::map<std::string, std::string> probes;
};

std::vector<text_case> cases_of(const std::string& file) {
  const toml::table root =
      toml::parse_file(std::string(ASSAY_DIAGNOSIS_TEST_DIR) + "/" + file + ".toml");
  std::vector<text_case> cases;
  for (const toml::node& node : *root["case"].as_array()) {
    const toml::table& from = *node.as_table();
    text_case one;
    one.name = from["name"].value_or("");
    one.text = from["text"].value_or("");
    one.klass = from["class"].value_or("unknown");
    one.confidence = from["confidence"].value_or("");
    if (const toml::table* facts = from["facts"].as_table()) {
      one.facts.platform = (*facts)["platform"].value_or("");
      one.facts.torch_build = (*facts)["build"].value_or("");
      one.facts.status = (*facts)["status"].value_or("");
      one.facts.dtype = (*facts)["dtype"].value_or("");
      one.facts.chain = (*facts)["chain"].value_or("");
      if (const toml::array* operators = (*facts)["operators"].as_array()) {
        for (const toml::node& name : *operators) {
          one.facts.operators.push_back(name.value_or(std::string()));
        }
      }
    }
    if (const toml::table* probes = from["probes"].as_table()) {
      for (const auto& [id, state] : *probes) {
        one.probes[std::string(id.str())] = state.value_or(std::string());
      }
    }
    cases.push_back(std::move(one));
  }
  return cases;
}

class case_file : public ::testing::TestWithParam<const char*> {};

TEST_P(case_file, every_text) {
  const std::vector<text_case> cases = cases_of(GetParam());
  EXPECT_GE(cases.size(), 10U);
  for (const text_case& one : cases) {
    const explanation e = explain_text(one.text, one.facts, one.probes);
    EXPECT_EQ(e.klass(), one.klass) << one.name << "\n" << e.all();
    if (!e.recognised()) {
      continue;
    }
    if (!one.confidence.empty()) {
      EXPECT_EQ(name_of(e.found.front().confidence), one.confidence) << one.name << "\n" << e.all();
    }
    EXPECT_EQ(e.is_certain(), one.confidence == "certain") << one.name << "\n" << e.all();
  }
}

INSTANTIATE_TEST_SUITE_P(shipped_rules, case_file,
                         ::testing::Values("look_alikes_rocm", "look_alikes_other", "plain_rocm",
                                           "plain_other", "unknown"));

TEST(shipped_rules, are_all_read_and_hang_together) {
  EXPECT_EQ(shipped_rules().complaints, std::vector<std::string>());
  EXPECT_GE(shipped_rules().known.packs.size(), 4U);
  EXPECT_GE(shipped_rules().known.entries.size(), 150U);
}

/// A text alone is never certain, whatever it says.
TEST(shipped_rules, no_text_is_certain) {
  for (const char* file : {"look_alikes_rocm", "look_alikes_other", "plain_rocm", "plain_other"}) {
    for (const text_case& one : cases_of(file)) {
      for (const found_diagnosis& d : explain_text(one.text, one.facts).found) {
        EXPECT_LT(d.confidence, confidence::certain) << one.name << ": " << d.entry->code;
      }
    }
  }
}

/// What a probe may say for or against must be a probe: its name has a pack in front.
TEST(shipped_rules, probes_are_named_as_probes_are) {
  for (const rule& r : shipped_rules().known.rules) {
    if (!r.probe.empty()) {
      EXPECT_NE(r.probe.find('.'), std::string::npos) << r.name;
    }
  }
}

TEST(shipped_rules, every_entry_advises_something) {
  for (const auto& [code, entry] : shipped_rules().known.entries) {
    const advice& a = entry.advice;
    EXPECT_FALSE(a.any.empty() && a.on_linux.empty() && a.on_wsl.empty() && a.on_windows.empty())
        << code;
  }
}

// ---- what the advice of AMD's entries may not do, and which of them keep quiet without facts

struct step {
  std::string code, platform, text;

  [[nodiscard]] bool is_command() const { return text.starts_with("$ "); }
  [[nodiscard]] bool has(const char* part) const { return text.find(part) != std::string::npos; }
};

std::vector<step> steps(const std::string& of) {
  std::vector<step> all;
  for (const auto& [code, entry] : shipped_rules().known.entries) {
    if (!code.starts_with(of)) {
      continue;
    }
    const advice& a = entry.advice;
    const std::array<std::pair<const char*, const std::vector<std::string>*>, 4> lists{
        {{"any", &a.any}, {"linux", &a.on_linux}, {"wsl", &a.on_wsl}, {"windows", &a.on_windows}}};
    for (const auto& [platform, texts] : lists) {
      for (const std::string& text : *texts) {
        all.push_back({code, platform, text});
      }
    }
  }
  return all;
}

std::vector<step> steps_of_rocm() { return steps("ROCM-"); }

/// Which value fits, and which GPU has which number, only a probe knows.
TEST(rocm_advice, pastes_no_setting_that_may_not_fit) {
  for (const step& s : steps_of_rocm()) {
    if (s.is_command() && s.platform != "windows") {
      EXPECT_FALSE(s.has("HSA_OVERRIDE_GFX_VERSION=1")) << s.code << ": " << s.text;
      EXPECT_FALSE(s.has("HIP_VISIBLE_DEVICES=0")) << s.code << ": " << s.text;
    }
  }
}

TEST(rocm_advice, boots_no_machine) {
  for (const step& s : steps_of_rocm()) {
    if (s.is_command()) {
      EXPECT_FALSE(s.has("sudo reboot")) << s.code << ": " << s.text;
      EXPECT_FALSE(s.has("setx ")) << s.code << ": " << s.text;
    }
  }
}

/// In PowerShell `set` and `where` are other commands, and the first fails without a word.
TEST(advice, windows_commands_suit_both_shells) {
  for (const step& s : steps("")) {
    if (s.platform == "windows" && s.is_command() && !s.text.starts_with("$ cmd /c ")) {
      for (const char* only_cmd :
           {"$ set ", "$ where ", "$ dir ", "$ ren ", "$ echo ", "$ rmdir ", "$ del ", "$ copy "}) {
        EXPECT_FALSE(s.text.starts_with(only_cmd)) << s.code << ": " << s.text;
      }
      EXPECT_FALSE(s.has("&") || s.has("%")) << s.code << ": " << s.text;
    }
  }
}

/// Kernel, modules, firmware and bus are Windows' there.
TEST(advice, wsl_commands_ask_for_nothing_that_wsl_lacks) {
  for (const step& s : steps("")) {
    if (s.platform == "wsl" && s.is_command()) {
      for (const char* lacking :
           {"grub", "mokutil", "lspci", "dkms autoinstall", "install amdgpu-dkms", "linux-firmware",
            "initramfs", "/sys/kernel/debug", "/sys/class/drm", "/sys/module/amdgpu", "modprobe",
            "ls -l /dev/kfd", "--device=/dev/kfd", "amdgpu|kfd", "kfd|amdgpu"}) {
        EXPECT_FALSE(s.has(lacking)) << s.code << ": " << s.text;
      }
    }
  }
}

TEST(rocm_advice, commands_stand_alone) {
  for (const step& s : steps_of_rocm()) {
    EXPECT_TRUE(s.is_command() || !s.has(": $ ")) << s.code << ": " << s.text;
  }
}

/// A text that ends in a colon introduces the next one, on every platform.
TEST(rocm_advice, no_text_ends_in_the_air) {
  for (const auto& [code, entry] : shipped_rules().known.entries) {
    const advice& a = entry.advice;
    if (!code.starts_with("ROCM-")) {
      continue;
    }
    for (const auto* platform :
         {&a.on_linux, a.on_wsl.empty() ? &a.on_linux : &a.on_wsl, &a.on_windows}) {
      std::vector<std::string> shown = a.any;
      shown.insert(shown.end(), platform->begin(), platform->end());
      if (!shown.empty()) {
        EXPECT_FALSE(shown.back().ends_with(":")) << code << ": " << shown.back();
      }
    }
  }
}

/// Many causes share these words; those that only a fact or a probe can tell keep quiet.
TEST(rocm_guesses, say_nothing_without_facts) {
  const explanation no_gpu = explain_text("RuntimeError: No HIP GPUs are available\n");
  ASSERT_EQ(no_gpu.found.size(), 1U) << no_gpu.all();
  EXPECT_EQ(no_gpu.found[0].entry->code, "ROCM-NO-GPU");
  for (const char* text :
       {"Memory access fault by GPU node-1 (Agent handle: 0x55) on address 0x7f. Reason: Page not "
        "present or supervisor privilege.\n",
        "HW Exception by GPU node-1 (Agent handle: 0x55) reason :GPU Hang\n",
        "RuntimeError: HIP error: invalid device function\n"}) {
    const explanation e = explain_text(text);
    EXPECT_EQ(e.all().find("ROCM-OVERRIDE"), std::string::npos) << text << e.all();
  }
}

TEST(rocm_guesses, speak_where_a_probe_confirms_or_the_facts_are_known) {
  const std::string text = "RuntimeError: No HIP GPUs are available\n";
  const explanation seen = explain_text(text, {}, {{"rocm.kfd_access", "no"}});
  EXPECT_EQ(seen.found.front().entry->code, "ROCM-KFD-PERMISSION") << seen.all();
  EXPECT_TRUE(seen.is_certain()) << seen.all();

  failure_facts facts;
  facts.status = "crash";
  facts.environment = std::vector<std::string>{"HSA_OVERRIDE_GFX_VERSION=11.0.0"};
  const explanation known = explain_text(
      "Memory access fault by GPU node-1 on address 0x7f. Reason: Page not present.\n", facts);
  EXPECT_NE(known.all().find("ROCM-OVERRIDE-WRONG"), std::string::npos) << known.all();
}

}  // namespace
