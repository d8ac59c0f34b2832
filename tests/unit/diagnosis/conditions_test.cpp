// SPDX-License-Identifier: Apache-2.0
//
// What a rule asks of the text, and its conditions on facts that may not be known.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "rules.hpp"

namespace {

using namespace assay;
using namespace assay::testing;

std::string answer(const std::string& keys, std::string_view text,
                   const failure_facts& facts = {}) {
  return in_short(judged(known(likely("ACME-OLD", keys)), text, facts));
}

const std::string no;
const std::string likely_one = "ACME-OLD likely";
const std::string possible_one = "ACME-OLD possible";

TEST(patterns, all_any_not) {
  const std::string all = R"(all = ["first text", "second text"])";
  EXPECT_EQ(answer(all, "second text\nfirst text\n"), likely_one);
  EXPECT_EQ(answer(all, "first text and second text\n"), likely_one);
  EXPECT_EQ(answer(all, "first text\n"), no);
  const std::string any = R"(any = ["first text", "second text"])";
  EXPECT_EQ(answer(any, "second text\n"), likely_one);
  EXPECT_EQ(answer(any, "third text\n"), no);
  const std::string both = all + "\nany = [\"third text\", \"fourth text\"]";
  EXPECT_EQ(answer(both, "first text\nsecond text\n"), no);
  EXPECT_EQ(answer(both, "first text\nfourth text\nsecond text\n"), likely_one);
  const std::string without = any + "\nnot = [\"falling back\"]";
  EXPECT_EQ(answer(without, "first text\n"), likely_one);
  EXPECT_EQ(answer(without, "first text\nFalling Back\n"), no);
  EXPECT_EQ(answer(without, "falling back\nfirst text\n"), no);
}

TEST(patterns, within_lines) {
  const std::string keys = R"(all = ["first text", "second text"]
within_lines = 2)";
  EXPECT_EQ(answer(keys, "first text\nx\nsecond text\n"), likely_one);
  EXPECT_EQ(answer(keys, "second text\nx\nfirst text\n"), likely_one);
  EXPECT_EQ(answer(keys, "first text\nx\nx\nsecond text\n"), no);
  // Of many occurrences, any two may be near each other.
  EXPECT_EQ(answer(keys, "first text\nx\nx\nx\nx\nfirst text\nsecond text\n"), likely_one);
  const std::string with_any = keys + "\nany = [\"third text\", \"fourth text\"]";
  EXPECT_EQ(answer(with_any, "first text\nsecond text\nfourth text\n"), likely_one);
  EXPECT_EQ(answer(with_any, "first text\nsecond text\nx\nfourth text\n"), no);
}

TEST(patterns, evidence_is_in_the_order_of_the_text) {
  const knowledge all = known(likely("ACME-OLD", R"(all = ["first text", "second text"]
any = ["third text", "fourth text"])"));
  const auto found = judged(all, "fourth text\n  second text  \nfirst text, third text\n");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].evidence,
            (std::vector<std::string>{"fourth text", "second text", "first text, third text"}));
  EXPECT_EQ(found[0].first_line, 1U);
  EXPECT_EQ(found[0].by, "rule ACME-OLD #1");
}

struct condition {
  std::string keys;
  std::function<void(failure_facts&, const std::string&)> set;
  std::string good, bad;
};

const std::vector<condition>& conditions() {
  static const std::vector<condition> list{
      {"status = [\"error\", \"crash\"]",
       [](failure_facts& f, const std::string& to) { f.status = to; }, "crash", "timeout"},
      {"end = [\"SIGSEGV\", \"exit status 1*\"]",
       [](failure_facts& f, const std::string& to) { f.end = to; }, "exit status 13", "SIGABRT"},
      {"phase = [\"first_call\"]", [](failure_facts& f, const std::string& to) { f.phase = to; },
       "first_call", "timing"},
      {"operator = [\"aten::*batch_norm*\"]",
       [](failure_facts& f, const std::string& to) {
         f.operators = {"aten::relu", to};
       },
       "aten::native_batch_norm", "aten::add"},
      {"dtype = [\"float16\", \"bfloat16\"]",
       [](failure_facts& f, const std::string& to) { f.dtype = to; }, "bfloat16", "float32"},
      {"architecture = [\"gfx103?\"]",
       [](failure_facts& f, const std::string& to) { f.architecture = to; }, "gfx1032", "gfx1100"},
      {"platform = [\"linux\", \"wsl\"]",
       [](failure_facts& f, const std::string& to) { f.platform = to; }, "wsl", "windows"},
      {"build = [\"rocm\"]", [](failure_facts& f, const std::string& to) { f.torch_build = to; },
       "rocm", "cuda"},
      {"torch = \">=2.4, <2.7\"",
       [](failure_facts& f, const std::string& to) { f.torch_version = to; }, "2.6.0+rocm6.2",
       "2.7.1"},
      {"environment = [\"HSA_OVERRIDE_GFX_VERSION=10.*\"]",
       [](failure_facts& f, const std::string& to) {
         f.environment = std::vector<std::string>{"HOME=/root", to};
       },
       "HSA_OVERRIDE_GFX_VERSION=10.3.0", "HSA_OVERRIDE_GFX_VERSION=11.0.0"},
  };
  return list;
}

TEST(conditions, holds_refused_unknown) {
  const std::string text = "all = [\"acme fails\"]\n";
  for (const condition& one : conditions()) {
    failure_facts facts;
    EXPECT_EQ(answer(text + one.keys, "acme fails", facts), possible_one) << one.keys;
    EXPECT_EQ(answer(text + one.keys, "acme works", facts), no) << one.keys;
    one.set(facts, one.good);
    EXPECT_EQ(answer(text + one.keys, "acme fails", facts), likely_one) << one.keys;
    one.set(facts, one.bad);
    EXPECT_EQ(answer(text + one.keys, "acme fails", facts), no) << one.keys;
  }
}

/// A rule that needs facts says nothing without them, unless its probe does.
TEST(conditions, needed_facts) {
  const knowledge all = known(likely("ACME-OLD", R"(all = ["acme fails"]
needs_facts = true
environment = ["ACME_MODE=*"]
probe = "acme.mode"
confirmed_by = "no"
refuted_by = "yes")"));
  const auto with = [&](const failure_facts& facts, const std::string& state) {
    std::map<std::string, probe_result> probes;
    if (!state.empty()) {
      probes["acme.mode"] = {"acme.mode", state, "what it saw", {}, {}};
    }
    return in_short(judged(all, "acme fails", facts, probes));
  };
  EXPECT_EQ(with({}, ""), no);
  EXPECT_EQ(with({}, "unknown"), no);
  EXPECT_EQ(with({}, "no"), "ACME-OLD certain");
  EXPECT_EQ(with({}, "yes"), "ACME-OLD possible withdrawn");
  failure_facts facts;
  facts.environment = std::vector<std::string>{"ACME_MODE=fast"};
  EXPECT_EQ(with(facts, ""), likely_one);
  EXPECT_EQ(with(facts, "unknown"), likely_one);
  facts.environment->clear();
  EXPECT_EQ(with(facts, "no"), no);
}

TEST(conditions, all_must_hold) {
  std::string keys = "all = [\"acme fails\"]\n";
  failure_facts facts;
  for (const condition& one : conditions()) {
    keys += one.keys + "\n";
    one.set(facts, one.good);
  }
  EXPECT_EQ(answer(keys, "acme fails", facts), likely_one);
  for (const condition& one : conditions()) {
    failure_facts wrong = facts;
    one.set(wrong, one.bad);
    EXPECT_EQ(answer(keys, "acme fails", wrong), no) << one.keys;
  }
}

TEST(conditions, an_empty_environment_is_known) {
  failure_facts facts;
  facts.environment.emplace();
  EXPECT_EQ(answer("all = [\"acme fails\"]\nenvironment = [\"ACME=*\"]", "acme fails", facts), no);
}

TEST(conditions, without_a_text_facts_must_be_known) {
  const std::string keys = "end = [\"SIGSEGV\"]\nphase = [\"first_call\"]";
  failure_facts facts;
  EXPECT_EQ(answer(keys, "any text"), no);
  facts.end = "SIGSEGV";
  EXPECT_EQ(answer(keys, "any text", facts), no);
  facts.phase = "first_call";
  facts.status = "crash";
  EXPECT_EQ(answer(keys, "any text", facts), likely_one);
  const auto found = judged(known(likely("ACME-OLD", keys)), "", facts);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].evidence, std::vector<std::string>{"crash SIGSEGV, in phase first_call"});
}

TEST(facts, are_fed_in_the_order_of_the_documentation) {
  const knowledge all = known(likely("ACME-OLD", "any = [\"acme\"]"));
  failure_facts facts;
  facts.error_type = "c10::Error";
  facts.error_text = "acme message\nsecond line";
  facts.trace = "acme trace";
  facts.stderr_text = "acme standard error\n";
  facts.warnings = "acme warning";
  facts.stdout_text = "acme output";
  facts.chain = "assay: path warn: acme";
  facts.log = "acme log";  // whoever has it feeds it
  text_scan scan(all);
  facts.feed(scan);
  EXPECT_EQ(scan.excerpt(),
            "c10::Error: acme message\nsecond line\nacme trace\nacme standard error\nacme warning\n"
            "acme output\nassay: path warn: acme\n");
}

}  // namespace
