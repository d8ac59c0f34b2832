// SPDX-License-Identifier: Apache-2.0
//
// Each text of the case files beside this, run through the rules that are shipped.
#define TOML_EXCEPTIONS 1
#include <gtest/gtest.h>
#include <toml++/toml.h>

#include <string>
#include <vector>

#include "explained.hpp"

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

}  // namespace
