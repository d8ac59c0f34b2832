// SPDX-License-Identifier: Apache-2.0
//
// Every mistake that a rule file can have: the line, what it is, and what to do.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "rules.hpp"

namespace {

using namespace assay;
using namespace assay::testing;

const std::string what_to_do = "; mend the file, or take it away";

std::string refusal(const std::string& text) {
  knowledge all;
  all.add("bad.assay.toml", text);
  EXPECT_EQ(all.packs.size(), 1U);
  EXPECT_TRUE(all.entries.empty() || all.packs[0].refused.empty());
  return all.packs[0].refused;
}

std::string refusal_of_rule(const std::string& keys) {
  const std::string reason = refusal(pack() + entry("ACME-OLD", a_rule(keys)));
  EXPECT_TRUE(reason.ends_with(what_to_do)) << reason;
  const std::string whole = reason.substr(0, reason.size() - what_to_do.size());
  const auto colon = whole.find(": ");  // behind the line's number
  return whole.substr(std::min(colon + 2, whole.size()));
}

std::size_t line_of(const std::string& reason) {
  EXPECT_TRUE(reason.starts_with("line ")) << reason;
  return std::stoul(reason.substr(5));
}

TEST(rule_file, good) {
  knowledge all;
  all.add(
      "acme.assay.toml",
      pack() + entry("ACME-OLD", a_rule("all = [\"acme: driver * old\"]\nconfidence = \"likely\"") +
                                     a_rule("end = [\"SIGSEGV\"]\nconfidence = \"possible\"")));
  ASSERT_EQ(all.packs.size(), 1U);
  EXPECT_EQ(all.packs[0].refused, "");
  EXPECT_EQ(all.packs[0].id, "acme");
  EXPECT_EQ(all.packs[0].entry_count, 1U);
  EXPECT_EQ(all.packs[0].rule_count, 2U);
  ASSERT_NE(all.find("ACME-OLD"), nullptr);
  EXPECT_EQ(all.find("ACME-OLD")->klass, "class_of_ACME-OLD");
  EXPECT_EQ(all.find("ACME-OLD")->advice.any, std::vector<std::string>{"$ acme-update"});
  EXPECT_EQ(all.find("ACME-NEW"), nullptr);
  EXPECT_TRUE(all.loose_ends().empty());
}

TEST(rule_file, not_toml) {
  const std::string reason = refusal("[pack]\nformat = 1\nid = oops\n");
  EXPECT_EQ(line_of(reason), 3U) << reason;
  EXPECT_TRUE(reason.ends_with(what_to_do)) << reason;
  EXPECT_NE(refusal(std::string("\0\x01\xff\xfe", 4)), "");
  // These break assertions of toml++ 3.3.
  EXPECT_TRUE(refusal("[pack]\nformat = [}\n").starts_with("line 2: this line is no TOML"));
  EXPECT_TRUE(refusal("[pack]\nformat = 1\n[\n").starts_with("line 3: "));
  EXPECT_NE(refusal("[pack]\nformat = 1\nformat = 1\n"), "");  // a key twice
}

TEST(rule_file, pack) {
  EXPECT_NE(refusal("").find("needs [pack], with format, id, version and vendor"),
            std::string::npos);
  EXPECT_NE(refusal("pack = 3\n").find("needs [pack]"), std::string::npos);
  EXPECT_NE(refusal("[pack]\nformat = 2\nid = \"a\"\nversion = \"1\"\nvendor = \"A\"\n")
                .find("needs 'format = 1'"),
            std::string::npos);
  EXPECT_NE(refusal("[pack]\nformat = 1\nversion = \"1\"\nvendor = \"A\"\n").find("needs 'id'"),
            std::string::npos);
  EXPECT_NE(refusal(pack("Acme Driver")).find("id 'Acme Driver': an id takes a-z"),
            std::string::npos);
  EXPECT_NE(refusal(pack() + "verison = \"1\"\n").find("no key 'verison'; did you mean 'version'?"),
            std::string::npos);
  EXPECT_NE(refusal(pack() + "[[diagnoses]]\n").find("did you mean 'diagnosis'?"),
            std::string::npos);
}

TEST(rule_file, op_pack) {
  const std::string head = pack() + "accelerator = \"rocm\"\nload_library = [\"x.so\"]\n";
  const std::string check = "[[category]]\nname = \"a\"\n[[check]]\nname = \"a/b\"\n";
  EXPECT_EQ(refusal(head + check), "");
  EXPECT_EQ(refusal(head + likely("ACME-OLD", "any = [\"acme: old\"]") + check), "");
  EXPECT_NE(refusal("check = [{ name = \"a/b\" }]\n" + head)
                .find("line 1: 'check' is written as [[check]], at the beginning of a line"),
            std::string::npos);
}

TEST(rule_file, entry) {
  const auto of = [](std::string text, const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return refusal(pack() + text.replace(at, from.size(), to));
  };
  const std::string good = entry("ACME-OLD");
  const std::vector<std::pair<std::pair<std::string, std::string>, std::string>> mistakes{
      {{"code = \"ACME-OLD\"\n", ""}, "needs 'code'"},
      {{"ACME-OLD\"\n", "acme_old\"\n"}, "code 'acme_old': a code takes A-Z, 0-9 and - only"},
      {{"class = \"class_of_ACME-OLD\"\n", ""}, "ACME-OLD needs 'class'"},
      {{"title = \"Title\"\n", ""}, "ACME-OLD needs 'title'"},
      {{"\"Title\"", "\"\""}, "'title' is a text that is not empty"},
      {{"\"Title\"", "7"}, "'title' is a text that is not empty"},
      {{"\"driver\"", "\"drivers\""}, "cannot be 'drivers'; did you mean 'driver'?"},
      {{"\"error\"", "\"eror\""}, "'severity' cannot be 'eror'; did you mean 'error'?"},
      {{"since = \"0.1.0\"\n", ""}, "needs 'since'"},
      {{"cause = \"Because.\"\n", ""}, "needs 'cause'"},
      {{"advice.any = [\"$ acme-update\"]\n", ""}, "needs advice.any, advice.linux"},
      {{"advice.any", "advice.macos"}, "advice has no key 'macos'"},
      {{"advice.any", "advice.window"}, "did you mean 'windows'?"},
      {{"[\"$ acme-update\"]", "\"acme-update\""}, "'any' is a list of texts"},
      {{"[\"$ acme-update\"]", "[\"\"]"}, "'any' holds texts that are not empty"},
      {{"[\"$ acme-update\"]", "[3]"}, "'any' holds texts that are not empty"},
      {{"cause =", "because = 1\ncause ="}, "has no key 'because'; did you mean 'cause'?"},
  };
  for (const auto& [change, expected] : mistakes) {
    const std::string reason = of(good, change.first, change.second);
    EXPECT_NE(reason.find(expected), std::string::npos) << expected << "\n" << reason;
    EXPECT_TRUE(reason.ends_with(what_to_do)) << reason;
    EXPECT_GE(line_of(reason), 6U) << reason;
  }
  EXPECT_EQ(line_of(of(good, "\"Title\"", "\"\"")), 9U);
  EXPECT_NE(refusal("diagnosis = [1]\n" + pack()).find("written as [[diagnosis]]"),
            std::string::npos);
}

TEST(rule_file, rule) {
  const std::string sure = "confidence = \"likely\"\n";
  const std::string text = sure + "all = [\"acme driver\"]\n";
  const std::vector<std::pair<std::string, std::string>> mistakes{
      {"all = [\"acme driver\"]", "rule ACME-OLD #1 needs 'confidence'"},
      {"confidence = \"certain\"\nall = [\"acme driver\"]", "'confidence' cannot be 'certain'"},
      {sure, "needs 'all', 'any', 'end' or 'status': it would always hold"},
      {sure + "not = [\"acme driver\"]", "it would always hold"},
      {sure + "dtype = [\"float16\"]", "it would always hold"},
      {sure + "all = [\"abc\"]", "pattern 'abc' needs a run of 4 characters without *"},
      {sure + "all = [\"*\"]", "needs a run of 4"},
      {sure + "any = [\"ab*cd*ef\"]", "needs a run of 4"},
      {sure + "all = [\"two\\nlines\"]", "on one line"},
      {sure + "all = \"acme driver\"", "'all' is a list of texts"},
      {text + "needs_facts = 1", "'needs_facts' is true or false"},
      {text + "within_lines = 0", "'within_lines' is a number of lines, 1 or more"},
      {text + "within_lines = \"3\"", "'within_lines' is a number of lines, 1 or more"},
      {sure + "end = [\"SIGSEGV\"]\nwithin_lines = 2", "'within_lines' goes with 'all' or 'any'"},
      {text + "status = [\"failed\"]", "'status' takes error, crash, timeout, ok, not 'failed'"},
      {text + "platform = [\"macos\"]", "'platform' takes linux, wsl, windows, not 'macos'"},
      {text + "build = [\"hip\"]", "'build' takes rocm, cuda, cpu, not 'hip'"},
      {text + "torch = \"2.4\"", "version range '2.4' begins with none of >= <= == > <"},
      {text + "torch = \">= new\"", "version range '>= new' has no number"},
      {text + "torch = \">=2.4, 2.7\"", "version range '2.7' begins with none of"},
      {text + "probe = \"acme.up\"", "'probe' goes with 'confirmed_by' or 'refuted_by'"},
      {text + "confirmed_by = \"no\"", "'probe' goes with"},
      {text + "probe = \"acme.up\"\nconfirmed_by = \"maybe\"", "cannot be 'maybe'"},
      {text + "probe = \"acme.up\"\nconfirmed_by = \"no\"\nrefuted_by = \"no\"",
       "the same answer cannot confirm and refute"},
      {text + "operators = [\"aten::add\"]", "has no key 'operators'; did you mean 'operator'?"},
      {text + "archtecture = [\"gfx1032\"]", "did you mean 'architecture'?"},
      {text + "environment = [\"ACME_DEBUG\"]",
       "environment 'ACME_DEBUG' is written NAME=value; for any value: ACME_DEBUG=*"},
      {text + "ends = [\"SIGSEGV\"]", "did you mean 'end'?"},
  };
  for (const auto& [keys, expected] : mistakes) {
    const std::string reason = refusal_of_rule(keys);
    EXPECT_NE(reason.find(expected), std::string::npos) << keys << "\n" << reason;
  }
  EXPECT_EQ(line_of(refusal(pack() + entry("ACME-OLD", a_rule(text + "build = [\"hip\"]")))), 18U);
}

TEST(rule_file, classifier) {
  const auto of = [](const std::string& keys) {
    return refusal(pack() + "[[classifier]]\n" + keys);
  };
  EXPECT_NE(of("plugin = \"acme\"\nany = [\"acme\"]\n").find("needs 'id'"), std::string::npos);
  EXPECT_NE(of("id = \"a.b\"\nany = [\"acme\"]\n").find("classifier a.b needs 'plugin'"),
            std::string::npos);
  EXPECT_NE(of("id = \"a.b\"\nplugin = \"acme\"\n").find("needs 'any'"), std::string::npos);
  EXPECT_NE(of("id = \"a.b\"\nplugin = \"acme\"\nany = []\n").find("needs 'any'"),
            std::string::npos);
  EXPECT_NE(of("id = \"a.b\"\nplugin = \"../acme\"\nany = [\"acme\"]\n")
                .find("'plugin' is a name, of a file beside this one"),
            std::string::npos);
  EXPECT_NE(of("id = \"a.b\"\nplugin = \"acme\"\nall = [\"acme\"]\n").find("no key 'all'"),
            std::string::npos);
  knowledge all;
  all.add("/some/where/acme.assay.toml",
          pack() + "[[classifier]]\nid = \"a.b\"\nplugin = \"acme\"\nany = [\"acme\"]\n");
  ASSERT_EQ(all.classifiers.size(), 1U) << all.packs[0].refused;
  EXPECT_EQ(all.classifiers[0].plugin, std::filesystem::path("/some/where/acme"));
}

TEST(rule_file, a_bad_file_is_refused_whole_and_others_stay) {
  knowledge all;
  all.add("a.assay.toml", pack("a") + likely("ACME-A", "all = [\"first text\"]"));
  all.add("b.assay.toml", pack("b") + likely("ACME-B", "all = [\"second text\"]") +
                              likely("ACME-BAD", "all = [\"x\"]"));
  all.add("c.assay.toml", pack("c") + likely("ACME-C", "any = [\"third text\", \"fourth text\"]"));
  ASSERT_EQ(all.packs.size(), 3U);
  EXPECT_EQ(all.packs[0].refused, "");
  EXPECT_NE(all.packs[1].refused, "");
  EXPECT_EQ(all.packs[2].refused, "");
  EXPECT_EQ(all.find("ACME-B"), nullptr);
  EXPECT_EQ(all.rules.size(), 2U);
  EXPECT_EQ(all.patterns.size(), 3U);
  EXPECT_EQ(in_short(judged(all, "first text\nsecond text\nfourth text\n")),
            "ACME-C likely, ACME-A likely");
}

TEST(rule_file, codes_and_ids_are_unique) {
  EXPECT_NE(refusal(pack() + entry("ACME-A") + entry("ACME-A")).find("the code ACME-A is taken"),
            std::string::npos);
  knowledge all;
  all.add("a.assay.toml", pack("a") + entry("ACME-A"));
  all.add("b.assay.toml", pack("b") + entry("ACME-A"));
  all.add("c.assay.toml", pack("a") + entry("ACME-C"));
  EXPECT_NE(all.packs[1].refused.find("the code ACME-A is taken"), std::string::npos);
  EXPECT_NE(all.packs[2].refused.find("the pack id 'a' is taken by a.assay.toml" + what_to_do),
            std::string::npos);
  EXPECT_EQ(all.entries.size(), 1U);
  // A refused file takes nothing.
  all.add("d.assay.toml", pack("d") + entry("ACME-D") + "[[diagnosis]]\n");
  all.add("e.assay.toml", pack("d") + entry("ACME-D"));
  EXPECT_EQ(all.packs[4].refused, "");
}

TEST(rule_file, loose_ends) {
  const knowledge all =
      known(entry("ACME-A", "", "explains = [\"ACME-B\", \"ACME-GONE\"]\n") + entry("ACME-B"));
  const auto lines = all.loose_ends();
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0], "diagnosis ACME-A of acme explains ACME-GONE, which no file has");
}

TEST(rule_file, probes_that_no_plugin_has) {
  const knowledge all =
      known(likely("ACME-A", "any = [\"acme fails\"]\nprobe = \"acme.up\"\nconfirmed_by = \"no\"") +
            likely("ACME-B", "any = [\"acme fails\"]\nprobe = \"acme.no\"\nconfirmed_by = \"no\""));
  EXPECT_TRUE(all.loose_ends().empty());
  EXPECT_EQ(all.loose_ends({"acme.up"}),
            std::vector<std::string>{"rule ACME-B #1 names the probe acme.no, which no plugin that "
                                     "was loaded has"});
}

TEST(rule_file, what_is_one_line) {
  const std::string good = entry("ACME-A");
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return refusal(pack() + text);
  };
  EXPECT_NE(with("\"Title\"", "\"\"\"Two\nlines\"\"\"").find("ACME-A: 'title' is one line"),
            std::string::npos);
  EXPECT_NE(with("\"$ acme-update\"", "\"$ a\\nb\"").find("ACME-A: each of 'any' is one line"),
            std::string::npos);
  EXPECT_EQ(with("\"Because.\"", "\"\"\"Because\nof this.\"\"\""), "");
}

TEST(rule_file, wsl_takes_the_steps_of_linux) {
  const auto advised = [](const std::string& more) {
    return known(entry("ACME-A", "", more)).find("ACME-A")->advice;
  };
  const std::vector<std::string> steps{"$ apt"};
  EXPECT_EQ(advised("advice.linux = [\"$ apt\"]\n").on_wsl, steps);
  EXPECT_EQ(advised("advice.linux = [\"$ apt\"]\nadvice.wsl = [\"$ wsl\"]\n").on_wsl,
            std::vector<std::string>{"$ wsl"});
  EXPECT_TRUE(advised("advice.linux = [\"$ apt\"]\nadvice.wsl = []\n").on_wsl.empty());
  EXPECT_TRUE(advised("advice.windows = [\"$ x\"]\n").on_wsl.empty());
}

}  // namespace
