// SPDX-License-Identifier: Apache-2.0
//
// Which failures have one reason, and which merely one code.
#include "host/diagnosis/reasons.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <string>

#include "rules.hpp"

namespace {

using namespace assay;
using namespace assay::testing;

class reasons : public ::testing::Test {
 protected:
  const knowledge all_ = known(likely("ACME-OLD", "any = [\"acme fails\"]") +
                               likely("ACME-NEW", "any = [\"acme works\"]"));
  std::deque<failure_facts> facts_;
  std::deque<found_diagnosis> found_;
  shared_reasons shared_;

  found_diagnosis& add(const std::string& check, std::vector<std::string> evidence,
                       const std::string& code = "ACME-OLD", const std::string& probe = "",
                       confidence sure = confidence::likely) {
    failure_facts& facts = facts_.emplace_back();
    facts.check = check;
    facts.device = "cuda:0";
    const std::string bare = check.substr(check.find('/') + 1);
    facts.operators = {"aten::" + bare.substr(0, bare.find('[')) + ".out"};
    found_diagnosis& d = found_.emplace_back();
    d.entry = all_.find(code);
    d.evidence = std::move(evidence);
    d.probe = probe;
    d.confidence = sure;
    shared_.add(d, facts, {{"id", check}});
    return d;
  }

  /// "a/b a/c | a/d": the checks of each reason.
  [[nodiscard]] std::string groups() const {
    std::string text;
    for (const auto& reason : shared_.in_order()) {
      text += text.empty() ? "" : " |";
      for (const auto& check : reason.checks) {
        text += (text.empty() ? "" : " ") + check.at("id").get<std::string>();
      }
    }
    return text;
  }
};

TEST_F(reasons, numbers_addresses_and_names_of_checks_do_not_count) {
  add("conv/conv2d[float32]",
      {"acme fails at 0x7f00deadbeef in aten::conv2d.out: 17 of 65536 on cuda:0",
       "/tmp/comgr-1a2b3c/include/x.hpp:30:10: fatal error"});
  add("norm/batch_norm[float16]",
      {"acme fails at 0x5600c0ffee00 in aten::batch_norm.out: 2 of 99 on cuda:0",
       "/tmp/comgr-ffgghh/include/x.hpp:31:1: fatal error"});
  EXPECT_EQ(groups(), "conv/conv2d[float32] norm/batch_norm[float16]");
}

TEST_F(reasons, one_code_with_other_evidence_is_another_reason) {
  add("activation/relu[float32]", {"acme fails: 65536 of 65536 elements differ"});
  add("activation/softmax[float32]", {"acme fails: 65536 of 65536 elements are NaN"});
  add("activation/gelu[float32]", {"acme fails: 12 of 65536 elements differ"});
  EXPECT_EQ(groups(),
            "activation/relu[float32] activation/gelu[float32] | activation/softmax[float32]");
}

TEST_F(reasons, another_code_is_another_reason) {
  add("a/b[float32]", {"acme fails"});
  add("a/c[float32]", {"acme fails"}, "ACME-NEW");
  EXPECT_EQ(groups(), "a/b[float32] | a/c[float32]");
}

TEST_F(reasons, what_is_said_once_a_process_is_missing_from_the_second) {
  add("a/b[float32]", {"acme fails", "warning: said once"});
  add("a/c[float32]", {"acme fails"});
  EXPECT_EQ(groups(), "a/b[float32] a/c[float32]");
  EXPECT_EQ(shared_.in_order().front().diagnosis, &found_.front());
}

TEST_F(reasons, decided_by_one_probe) {
  add("a/b[float32]", {"acme fails here"}, "ACME-OLD", "acme.up", confidence::certain);
  add("a/c[float32]", {"acme fails there"}, "ACME-OLD", "acme.up", confidence::certain);
  add("a/d[float32]", {"acme fails elsewhere"}, "ACME-OLD", "acme.up");  // not confirmed
  EXPECT_EQ(groups(), "a/b[float32] a/c[float32] | a/d[float32]");
}

TEST_F(reasons, the_best_founded_stands_for_all) {
  add("a/b[float32]", {"acme fails"}, "ACME-OLD", "", confidence::possible);
  add("a/c[float32]", {"acme fails"});
  ASSERT_EQ(groups(), "a/b[float32] a/c[float32]");
  EXPECT_EQ(shared_.in_order().front().diagnosis, &found_.back());
}

TEST_F(reasons, without_evidence_only_the_same_words_are_the_same) {
  const auto with_cause = [&](const std::string& check, const std::string& cause) {
    found_diagnosis d;
    d.entry = all_.find("ACME-OLD");
    d.cause = cause;
    failure_facts facts;
    facts.check = check;
    return kind_of_evidence(d, facts);
  };
  EXPECT_EQ(with_cause("a/b[float32]", "asked for 20.0 GiB"),
            with_cause("a/c[float32]", "asked for 1.5 GiB"));
  EXPECT_NE(with_cause("a/b[float32]", "asked for 20.0 GiB"),
            with_cause("a/c[float32]", "held by others"));
}

}  // namespace
