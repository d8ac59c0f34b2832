// SPDX-License-Identifier: Apache-2.0
//
// Every probe on every made-up machine, against golden/NAME.txt (ASSAY_UPDATE_GOLDEN=1 in the
// environment writes it), and on this machine.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <regex>

#include "asked.hpp"
#include "probes.hpp"
#include "text.hpp"

namespace diag_rocm::testing {

namespace {

std::string all_answers(const assay::probe_site& site) {
  std::string text;
  for (const std::unique_ptr<assay::probe>& p : hardware_probes()) {
    const assay::probe_answer a = p->look(site);
    text += p->id() + ": " + state_name(a.state) + "\n  " + a.fact + "\n";
    for (const std::string& code : a.findings) {
      text += "  finding: " + code + "\n";
    }
    for (const auto& [name, value] : a.values) {
      text += "  value: " + name + " = " + value + "\n";
    }
    for (const std::string& line : a.evidence) {
      text += "  evidence: " + line + "\n";
    }
  }
  return text;
}

std::vector<std::string> all_trees() {
  std::vector<std::string> names;
  for (const std::string& name : names_in(trees())) {
    const std::filesystem::path file = name;
    if (file.extension() == ".tree") {
      names.push_back(file.stem().string());
    }
  }
  return names;
}

class a_tree : public ::testing::TestWithParam<std::string> {};

TEST_P(a_tree, is_answered_as_expected) {
  const made_machine machine("like " + GetParam());
  const std::string text = all_answers(machine.site());
  const std::filesystem::path golden = test_dir() / "golden" / (GetParam() + ".txt");
  if (std::getenv("ASSAY_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(golden, std::ios::binary) << text;
  }
  EXPECT_EQ(text, read_file(golden).text) << "differs from " << golden;
  EXPECT_EQ(text.find(machine.site().root.string()), std::string::npos)
      << "an answer names the tree's place, not the path on its machine";
}

INSTANTIATE_TEST_SUITE_P(machines, a_tree, ::testing::ValuesIn(all_trees()),
                         [](const auto& tree) { return tree.param; });

TEST(trees, none_is_without_expectations) { EXPECT_GE(all_trees().size(), 8U); }

TEST(findings, are_codes_of_the_catalogue) {
  const std::filesystem::path plugin = DIAG_ROCM_DIR;
  std::string catalogue;
  for (const std::string& name : names_in(plugin / "rules")) {
    catalogue += read_file(plugin / "rules" / name).text;
  }
  const std::regex quoted("\"(ROCM-[A-Z0-9-]+)\"");
  std::size_t seen = 0;
  for (const std::string& name : names_in(plugin)) {
    const std::string text = read_file(plugin / name).text;
    for (std::sregex_iterator at(text.begin(), text.end(), quoted), end; at != end; ++at, ++seen) {
      EXPECT_NE(catalogue.find("code = " + at->str()), std::string::npos) << name << at->str();
    }
  }
  EXPECT_GT(seen, 10U);
}

TEST(this_machine, every_probe_answers) {
  for (const std::unique_ptr<assay::probe>& p : hardware_probes()) {
    const assay::probe_answer a = p->look({});
    EXPECT_FALSE(a.fact.empty()) << p->id();
    EXPECT_EQ(a.fact.find('\n'), std::string::npos) << p->id();
    EXPECT_EQ(p->summary().back(), '?') << p->id();
  }
}

TEST(an_empty_tree, leaves_every_question_of_hardware_open) {
  const made_machine machine("");
  for (const std::unique_ptr<assay::probe>& p : hardware_probes()) {
    const assay::probe_answer a = machine.ask(p);
    EXPECT_FALSE(a.fact.empty()) << p->id();
    EXPECT_TRUE(a.findings.empty()) << p->id() << ": " << a.fact;
    EXPECT_NE(a.state, assay::probe_state::no) << p->id() << ": " << a.fact;
  }
}

}  // namespace

}  // namespace diag_rocm::testing
