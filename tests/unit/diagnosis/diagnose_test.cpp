// SPDX-License-Identifier: Apache-2.0
//
// Confidence, probes, consequences, the order of the answers, and classifiers.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "rules.hpp"

namespace {

using namespace assay;
using namespace assay::testing;
using nlohmann::json;

probe_result says(const std::string& state) { return {"acme.up", state, "what it saw", {}, {}}; }

const std::string asked = R"(all = ["acme fails"]
probe = "acme.up"
confirmed_by = "no"
refuted_by = "yes")";

TEST(probes, confirm_refute_or_change_nothing) {
  const knowledge all = known(likely("ACME-DOWN", asked));
  const auto with = [&](const std::map<std::string, probe_result>& probes) {
    return judged(all, "acme fails", {}, probes);
  };
  EXPECT_EQ(in_short(with({})), "ACME-DOWN likely");
  EXPECT_TRUE(with({})[0].probes.empty());
  EXPECT_EQ(in_short(with({{"acme.up", says("no")}})), "ACME-DOWN certain");
  EXPECT_EQ(with({{"acme.up", says("no")}})[0].probes,
            std::vector<std::string>{"acme.up no: what it saw"});
  EXPECT_EQ(in_short(with({{"acme.up", says("yes")}})), "ACME-DOWN likely withdrawn");
  EXPECT_EQ(in_short(with({{"acme.up", says("unknown")}})), "ACME-DOWN likely");
  EXPECT_EQ(in_short(with({{"acme.other", says("no")}})), "ACME-DOWN likely");
}

TEST(probes, advice_that_was_seen_to_work) {
  const knowledge all = known(likely("ACME-DOWN", asked));
  probe_result sees = says("no");
  sees.values = {{"advice", "$ acme-start"}};
  EXPECT_EQ(to_json(judged(all, "acme fails", {}, {{"acme.up", sees}})[0])["advice_here"],
            "$ acme-start");
  sees.state = "unknown";
  EXPECT_TRUE(
      to_json(judged(all, "acme fails", {}, {{"acme.up", sees}})[0])["advice_here"].is_null());
}

TEST(probes, advice_in_place_of_the_catalogues) {
  const knowledge all = known(likely("ACME-DOWN", asked));
  const auto with = [&](const json& values) {
    probe_result sees = says("no");
    sees.values = values;
    return to_json(judged(all, "acme fails", {}, {{"acme.up", sees}})[0]);
  };
  EXPECT_EQ(with({{"advice", "$ acme-start"}})["advice"]["any"], json::array({"$ acme-update"}));
  const json instead = with({{"advice_instead", "Now:\n$ acme-start"}});
  EXPECT_EQ(instead["advice_here"], "Now:\n$ acme-start");
  EXPECT_EQ(instead["advice"]["any"], json::array());
  const json of_one = with({{"advice_instead.ACME-OLD", "$ acme-renew"},
                            {"advice.ACME-DOWN", "$ acme-start"},
                            {"advice", "Of any."}});
  EXPECT_EQ(of_one["advice_here"], "$ acme-start");
  EXPECT_EQ(of_one["advice"]["any"], json::array({"$ acme-update"}));
}

TEST(probes, may_say_more_of_one_code) {
  probe_result sees = says("no");
  sees.evidence = {"a", "b"};
  sees.values = {{"fact.ACME-DOWN", "the driver"}, {"evidence.ACME-DOWN", "b\nc"}};
  EXPECT_EQ(fact_for(sees, "ACME-DOWN"), "the driver");
  EXPECT_EQ(evidence_for(sees, "ACME-DOWN"), (std::vector<std::string>{"b", "c"}));
  EXPECT_EQ(fact_for(sees, "ACME-OLD"), "what it saw");
  EXPECT_EQ(evidence_for(sees, "ACME-OLD"), sees.evidence);
}

TEST(probes, one_sided) {
  const auto with = [&](const std::string& key, const std::string& state) {
    const knowledge all =
        known(likely("ACME-DOWN", "all = [\"acme fails\"]\nprobe = \"acme.up\"\n" + key));
    return in_short(judged(all, "acme fails", {}, {{"acme.up", says(state)}}));
  };
  EXPECT_EQ(with("confirmed_by = \"no\"", "no"), "ACME-DOWN certain");
  for (const char* other : {"yes", "unknown", ""}) {
    EXPECT_EQ(with("confirmed_by = \"no\"", other), "ACME-DOWN likely") << other;
  }
  EXPECT_EQ(with("refuted_by = \"yes\"", "yes"), "ACME-DOWN likely withdrawn");
  for (const char* other : {"no", "unknown", ""}) {
    EXPECT_EQ(with("refuted_by = \"yes\"", other), "ACME-DOWN likely") << other;
  }
}

TEST(probes, only_those_of_rules_that_hold_are_wanted) {
  const knowledge all =
      known(likely("ACME-DOWN", asked) + likely("ACME-OLD", R"(all = ["acme is old"]
probe = "acme.version"
confirmed_by = "no")"));
  const text_scan scan = scanned(all, "acme fails");
  EXPECT_EQ(wanted_probes(diagnoser(all).by_rules({}, scan)), std::set<std::string>{"acme.up"});
  const text_scan none = scanned(all, "acme works");
  EXPECT_TRUE(wanted_probes(diagnoser(all).by_rules({}, none)).empty());
}

TEST(probes, withdraw_one_rule_and_not_another_of_the_same_code) {
  const knowledge all =
      known(entry("ACME-DOWN", a_rule("confidence = \"likely\"\n" + asked) +
                                   a_rule("confidence = \"possible\"\nany = [\"acme fails\"]")));
  EXPECT_EQ(in_short(judged(all, "acme fails", {}, {{"acme.up", says("yes")}})),
            "ACME-DOWN possible");
  EXPECT_EQ(in_short(judged(all, "acme fails", {}, {{"acme.up", says("no")}})),
            "ACME-DOWN certain");
}

TEST(merging, several_rules_of_a_code) {
  const knowledge all = known(entry(
      "ACME-OLD", a_rule("confidence = \"possible\"\nany = [\"first text\"]") +
                      a_rule("confidence = \"likely\"\nany = [\"second text\"]") +
                      a_rule("confidence = \"possible\"\nany = [\"second text\", \"third\"]")));
  const auto found = judged(all, "first text\nsecond text\nthird\n");
  EXPECT_EQ(in_short(found), "ACME-OLD likely");
  EXPECT_EQ(found[0].by, "rule ACME-OLD #2");
  EXPECT_EQ(found[0].evidence, (std::vector<std::string>{"second text", "third", "first text"}));
}

TEST(merging, evidence_is_bounded) {
  std::string rules;
  std::string text;
  for (char c = 'a'; c < 'n'; ++c) {
    rules += a_rule(std::string("confidence = \"likely\"\nany = [\"text ") + c + "\"]");
    text += std::string("text ") + c + "\n";
  }
  const auto found = judged(known(entry("ACME-OLD", rules)), text);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].evidence.size(), 6U);
}

TEST(merging, a_line_that_was_shortened_differently_is_one_line) {
  const knowledge all = known(likely("ACME-OLD", "any = [\"acme fails\"]"));
  const diagnoser judge(all);
  const std::string line = "acme fails: " + std::string(600, 'x') + " the end";
  const text_scan scan = scanned(all, line);
  for (const std::string& other :
       {line, line.substr(0, 400), "AcmeError: " + line.substr(0, 380), line.substr(0, 300)}) {
    std::vector<found_diagnosis> found = judge.by_rules({}, scan);
    std::string why;
    found.push_back(
        *judge.by_classifier({{"code", "ACME-OLD"}, {"evidence", {other}}}, "acme.a", why));
    found = diagnoser::settle(std::move(found), {});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].evidence.size(), 1U) << other;
  }
}

TEST(rules_about_facts, a_timeout_is_seen) {
  const knowledge all = known(likely("ACME-HANG", "status = [\"timeout\"]"));
  failure_facts facts;
  facts.status = "timeout";
  facts.phase = "first_call";
  facts.error_type = "timeout";
  facts.error_text = "no result within 6 s";
  const auto found = judged(all, "", facts);
  ASSERT_EQ(in_short(found), "ACME-HANG likely");
  EXPECT_EQ(found[0].evidence,
            std::vector<std::string>{"timeout, in phase first_call: no result within 6 s"});
  facts.status = "crash";
  EXPECT_EQ(in_short(judged(all, "", facts)), "");
}

TEST(consequences, come_last) {
  const knowledge all =
      known(likely("ACME-CAUSE", "any = [\"the cause\"]", "explains = [\"ACME-EFFECT\"]\n") +
            likely("ACME-EFFECT", "any = [\"a much longer text of the effect\"]") +
            likely("ACME-OTHER", "any = [\"other\"]"));
  EXPECT_EQ(in_short(judged(all, "a much longer text of the effect\nother\nthe cause\n")),
            "ACME-CAUSE likely, ACME-OTHER likely, ACME-EFFECT likely of ACME-CAUSE");
  EXPECT_EQ(in_short(judged(all, "a much longer text of the effect\nother\n")),
            "ACME-EFFECT likely, ACME-OTHER likely");
}

TEST(consequences, never_in_a_circle) {
  const knowledge all =
      known(likely("ACME-A", "any = [\"text of a\"]", "explains = [\"ACME-B\"]\n") +
            likely("ACME-B", "any = [\"text of b\"]", "explains = [\"ACME-C\"]\n") +
            likely("ACME-C", "any = [\"text of c\"]", "explains = [\"ACME-A\"]\n"));
  const auto found = judged(all, "text of a\ntext of b\ntext of c\n");
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].consequence_of, "") << in_short(found);
  EXPECT_NE(found[1].consequence_of, "") << in_short(found);
  EXPECT_NE(found[2].consequence_of, "") << in_short(found);
}

TEST(consequences, only_of_what_is_as_well_founded) {
  const knowledge all =
      known(entry("ACME-CAUSE",
                  a_rule("confidence = \"possible\"\nany = [\"the cause\"]\nprobe = "
                         "\"acme.up\"\nconfirmed_by = \"no\"\nrefuted_by = \"yes\""),
                  "explains = [\"ACME-EFFECT\"]\n") +
            likely("ACME-EFFECT", "any = [\"the effect\"]"));
  const std::string text = "the cause\nthe effect\n";
  EXPECT_EQ(in_short(judged(all, text)), "ACME-EFFECT likely, ACME-CAUSE possible");
  EXPECT_EQ(in_short(judged(all, text, {}, {{"acme.up", says("no")}})),
            "ACME-CAUSE certain, ACME-EFFECT likely of ACME-CAUSE");
  EXPECT_EQ(in_short(judged(all, text, {}, {{"acme.up", says("yes")}})),
            "ACME-EFFECT likely, ACME-CAUSE possible withdrawn");
}

TEST(ranking, in_the_order_of_the_documentation) {
  const auto one = [](const std::string& code, const std::string& severity,
                      const std::string& confidence, const std::string& pattern,
                      const std::string& more = "") {
    return entry(
        code, a_rule("confidence = \"" + confidence + "\"\nany = [\"" + pattern + "\"]\n" + more),
        "", severity);
  };
  const std::string probe = "probe = \"acme.up\"\nconfirmed_by = \"no\"";
  const knowledge all =
      known(one("NOTICE-CERTAIN", "notice", "likely", "text number one", probe) +
            one("WARNING-POSSIBLE", "warning", "possible", "text number two") +
            one("ERROR-POSSIBLE", "error", "possible", "text number three") +
            one("ERROR-LIKELY-LATE", "error", "likely", "text number 4") +
            one("ERROR-LIKELY-EARLY", "error", "likely", "text number 5") +
            one("ERROR-LIKELY-LONGER", "error", "likely", "the text number six") +
            one("WARNING-LIKELY", "warning", "likely", "text number seven") +
            one("WARNING-CERTAIN", "warning", "possible", "text number eight", probe));
  EXPECT_EQ(in_short(judged(all,
                            "text number one\ntext number two\ntext number three\ntext number 5\n"
                            "text number 4\nthe text number six\ntext number seven\n"
                            "text number eight\n",
                            {}, {{"acme.up", says("no")}})),
            "WARNING-CERTAIN certain, ERROR-LIKELY-LONGER likely, ERROR-LIKELY-EARLY likely, "
            "ERROR-LIKELY-LATE likely, WARNING-LIKELY likely, ERROR-POSSIBLE possible, "
            "WARNING-POSSIBLE possible, NOTICE-CERTAIN certain");
}

TEST(classifiers, answers) {
  const knowledge all = known(entry("ACME-OLD") + entry("ACME-NEW"));
  const diagnoser judge(all);
  std::string why;
  const auto d = judge.by_classifier({{"code", "ACME-OLD"},
                                      {"confidence", "likely"},
                                      {"cause", "This one."},
                                      {"advice", "Do that."},
                                      {"evidence", {"a line"}}},
                                     "acme.arithmetic", why);
  ASSERT_TRUE(d) << why;
  EXPECT_EQ(d->confidence, confidence::likely);
  const json written = to_json(*d);
  EXPECT_EQ(written["by"], "classifier acme.arithmetic");
  EXPECT_EQ(written["cause"], "This one.");
  EXPECT_EQ(written["advice_here"], "Do that.");
  EXPECT_EQ(written["evidence"], json::array({"a line"}));
  EXPECT_EQ(written["advice"]["any"], json::array({"$ acme-update"}));

  const auto bare = judge.by_classifier({{"code", "ACME-NEW"}}, "acme.arithmetic", why);
  ASSERT_TRUE(bare) << why;
  EXPECT_EQ(to_json(*bare)["cause"], "Because.");
  EXPECT_TRUE(to_json(*bare)["advice_here"].is_null());
}

/// Two failures in one log: that one's kind explains the other's is no reason to fold it away.
TEST(classifiers, do_not_explain_their_own_answers) {
  const knowledge all =
      known(entry("ACME-OLD") + entry("ACME-NEW", "", "explains = [\"ACME-OLD\"]\n"));
  const diagnoser judge(all);
  std::string why;
  const auto settled = [&](const std::string& other) {
    return in_short(diagnoser::settle({*judge.by_classifier({{"code", "ACME-OLD"}}, "acme.a", why),
                                       *judge.by_classifier({{"code", "ACME-NEW"}}, other, why)},
                                      {}));
  };
  EXPECT_EQ(settled("acme.a"), "ACME-OLD possible, ACME-NEW possible");
  EXPECT_EQ(settled("acme.b"), "ACME-NEW possible, ACME-OLD possible of ACME-NEW");
}

TEST(classifiers, are_never_certain) {
  const knowledge all = known(entry("ACME-OLD"));
  std::string why;
  for (const char* claimed : {"certain", "sure", "", "possible"}) {
    const auto d =
        diagnoser(all).by_classifier({{"code", "ACME-OLD"}, {"confidence", claimed}}, "a.b", why);
    ASSERT_TRUE(d);
    EXPECT_EQ(d->confidence, confidence::possible) << claimed;
  }
}

TEST(classifiers, unknown_code_and_nonsense) {
  const knowledge all = known(entry("ACME-OLD"));
  std::string why;
  EXPECT_FALSE(diagnoser(all).by_classifier({{"code", "ACME-GONE"}}, "acme.arithmetic", why));
  EXPECT_EQ(why,
            "classifier acme.arithmetic answered 'ACME-GONE', which no rule file has as a code");
  for (const json& nonsense : {json::object(), json({{"code", 3}}), json({{"code", nullptr}})}) {
    why.clear();
    EXPECT_FALSE(diagnoser(all).by_classifier(nonsense, "acme.arithmetic", why));
    EXPECT_NE(why, "");
  }
}

TEST(classifiers, evidence_is_bounded) {
  const knowledge all = known(entry("ACME-OLD"));
  std::string why;
  const json lines =
      json::array({std::string(100000, 'x'), "", "two\nlines", "3", "4", "5", "6", "7"});
  const auto d =
      diagnoser(all).by_classifier({{"code", "ACME-OLD"}, {"evidence", lines}}, "a.b", why);
  ASSERT_TRUE(d);
  EXPECT_EQ(d->evidence,
            (std::vector<std::string>{std::string(400, 'x'), "two", "3", "4", "5", "6"}));
}

TEST(classifiers, and_rules_of_the_same_code_are_one) {
  const knowledge all = known(likely("ACME-OLD", "any = [\"acme fails\"]"));
  const text_scan scan = scanned(all, "acme fails");
  const diagnoser judge(all);
  std::vector<found_diagnosis> found = judge.by_rules({}, scan);
  std::string why;
  found.push_back(*judge.by_classifier({{"code", "ACME-OLD"}, {"evidence", {"another line"}}},
                                       "acme.arithmetic", why));
  found = diagnoser::settle(std::move(found), {});
  EXPECT_EQ(in_short(found), "ACME-OLD likely");
  EXPECT_EQ(found[0].evidence, (std::vector<std::string>{"acme fails", "another line"}));
}

}  // namespace
