// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <assay/plugin.hpp>

#include <cstring>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "fake_registrar.hpp"

using namespace assay;
using assay::test::fake_registrar;
using assay::test::fake_sink;
using assay::test::seen_value;

ASSAY_PLUGIN("test.registry", "1.2", "a test", "rocm")(registry& plugin) {
  plugin.category("own", "of this test").check("relu", {randn({4})}, call("aten::relu", in(0)));
}

namespace {

using texts = std::vector<std::pair<std::string, std::string>>;

int enter(fake_registrar& registrar, void (*body)(registry&)) {
  return detail::enter(registrar.table(), body);
}

TEST(values, every_kind_arrives_as_written) {
  fake_registrar got;
  const auto body = [](registry& plugin) {
    plugin.category("c", "s").check(
        "kinds", {randn({2}), randn({2})}, call("aten::split", in(0), 1),
        call("x::all", none, in(1), result(0, 1), true, -7, 0.25, "text", dtype::bfloat16,
             ints{1, -2, 3}, floats{0.5, -0.5}, list({in(0), result(0, 2)})));
  };
  ASSERT_EQ(enter(got, body), 0);
  const std::vector<seen_value>& v = got.checks.at(0).calls.at(1).arguments;
  ASSERT_EQ(v.size(), 11u);
  const std::uint32_t kinds[] = {ASSAY_VALUE_NONE,       ASSAY_VALUE_INPUT, ASSAY_VALUE_RESULT,
                                 ASSAY_VALUE_BOOL,       ASSAY_VALUE_INT,   ASSAY_VALUE_FLOAT,
                                 ASSAY_VALUE_STRING,     ASSAY_VALUE_DTYPE, ASSAY_VALUE_INT_LIST,
                                 ASSAY_VALUE_FLOAT_LIST, ASSAY_VALUE_LIST};
  for (std::size_t i = 0; i < v.size(); ++i) {
    EXPECT_EQ(v[i].kind, kinds[i]) << i;
    EXPECT_FALSE(v[i].argument) << i;
  }
  EXPECT_EQ(v[1].integer, 1);
  EXPECT_EQ(v[2].integer, 0);
  EXPECT_EQ(v[2].item, 1u);
  EXPECT_EQ(v[3].integer, 1);
  EXPECT_EQ(v[4].integer, -7);
  EXPECT_EQ(v[5].real, 0.25);
  EXPECT_EQ(v[6].text, "text");
  EXPECT_EQ(v[7].integer, ASSAY_DTYPE_BFLOAT16);
  EXPECT_EQ(v[8].integers, (std::vector<std::int64_t>{1, -2, 3}));
  EXPECT_EQ(v[9].reals, (std::vector<double>{0.5, -0.5}));
  ASSERT_EQ(v[10].items.size(), 2u);
  EXPECT_EQ(v[10].items[0].kind, std::uint32_t{ASSAY_VALUE_INPUT});
  EXPECT_EQ(v[10].items[1].kind, std::uint32_t{ASSAY_VALUE_RESULT});
  EXPECT_EQ(v[10].items[1].item, 2u);
}

TEST(values, wide_narrow_and_empty_ones_keep_their_kind) {
  fake_registrar got;
  const auto body = [](registry& plugin) {
    plugin.category("c", "s").check(
        "edges", {},
        call("x::edges", std::numeric_limits<std::int64_t>::min(), std::uint8_t{255}, 1.5f,
             std::string("s"), false, ints{}, floats{}, list({})),
        call("x::nothing"));
  };
  ASSERT_EQ(enter(got, body), 0);
  const std::vector<seen_value>& v = got.checks.at(0).calls.at(0).arguments;
  ASSERT_EQ(v.size(), 8u);
  EXPECT_EQ(v[0].integer, std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(v[1].kind, std::uint32_t{ASSAY_VALUE_INT});
  EXPECT_EQ(v[1].integer, 255);
  EXPECT_EQ(v[2].kind, std::uint32_t{ASSAY_VALUE_FLOAT});
  EXPECT_EQ(v[2].real, 1.5);
  EXPECT_EQ(v[3].text, "s");
  EXPECT_EQ(v[4].kind, std::uint32_t{ASSAY_VALUE_BOOL});
  EXPECT_EQ(v[4].integer, 0);
  EXPECT_TRUE(v[5].integers.empty());
  EXPECT_TRUE(v[6].reals.empty());
  EXPECT_TRUE(v[7].items.empty());
  EXPECT_TRUE(got.checks[0].calls.at(1).arguments.empty());
}

TEST(values, names_of_arguments_are_kept) {
  fake_registrar got;
  const auto body = [](registry& plugin) {
    plugin.category("c", "s").check(
        "named", {randn({2})},
        call("x::named", in(0), arg("padding", 1), arg("sizes", ints{2, 2}),
             arg("tensors", list({in(0)})), arg("weight", none)));
  };
  ASSERT_EQ(enter(got, body), 0);
  const std::vector<seen_value>& v = got.checks.at(0).calls.at(0).arguments;
  ASSERT_EQ(v.size(), 5u);
  EXPECT_FALSE(v[0].argument);
  EXPECT_EQ(v[1].argument, "padding");
  EXPECT_EQ(v[1].integer, 1);
  EXPECT_EQ(v[2].argument, "sizes");
  EXPECT_EQ(v[2].integers, (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(v[3].argument, "tensors");
  EXPECT_EQ(v[3].items.size(), 1u);
  EXPECT_EQ(v[4].argument, "weight");
  EXPECT_EQ(v[4].kind, std::uint32_t{ASSAY_VALUE_NONE});
}

TEST(values, lists_within_lists_stay_in_place) {
  fake_registrar got;
  const auto body = [](registry& plugin) {
    plugin.category("c", "s").check(
        "nested", {randn({2})},
        call("x::nested", list({list({in(0), in(0)}), list({}), list({list({result(0)})})}),
             list({in(0)})));
  };
  ASSERT_EQ(enter(got, body), 0);
  const std::vector<seen_value>& v = got.checks.at(0).calls.at(0).arguments;
  ASSERT_EQ(v.at(0).items.size(), 3u);
  EXPECT_EQ(v[0].items[0].items.size(), 2u);
  EXPECT_TRUE(v[0].items[1].items.empty());
  EXPECT_EQ(v[0].items[2].items.at(0).items.at(0).kind, std::uint32_t{ASSAY_VALUE_RESULT});
  EXPECT_EQ(v.at(1).items.size(), 1u);
}

TEST(checks, inputs_arrive_as_written) {
  fake_registrar got;
  const auto body = [](registry& plugin) {
    plugin.category("c", "s").check(
        "inputs",
        {randn({8, 64}), randn({}, dtype::float64), uniform({4}, -2.0, 3.0, dtype::float16),
         indices({5}, 1000), mask({6}), mask({7}, 0.25)},
        call("x::f", in(0)));
  };
  ASSERT_EQ(enter(got, body), 0);
  const auto& in = got.checks.at(0).inputs;
  ASSERT_EQ(in.size(), 6u);
  EXPECT_EQ(in[0].sizes, (std::vector<std::int64_t>{8, 64}));
  EXPECT_EQ(in[0].dtype, ASSAY_DTYPE_OF_CHECK);
  EXPECT_EQ(in[0].fill, ASSAY_FILL_NORMAL);
  EXPECT_TRUE(in[1].sizes.empty());
  EXPECT_EQ(in[1].dtype, ASSAY_DTYPE_FLOAT64);
  EXPECT_EQ(in[2].fill, ASSAY_FILL_UNIFORM);
  EXPECT_EQ(in[2].low, -2.0);
  EXPECT_EQ(in[2].high, 3.0);
  EXPECT_EQ(in[2].dtype, ASSAY_DTYPE_FLOAT16);
  EXPECT_EQ(in[3].fill, ASSAY_FILL_INDEX);
  EXPECT_EQ(in[3].dtype, ASSAY_DTYPE_INT64);
  EXPECT_EQ(in[3].low, 0.0);
  EXPECT_EQ(in[3].high, 1000.0);
  EXPECT_EQ(in[4].fill, ASSAY_FILL_MASK);
  EXPECT_EQ(in[4].dtype, ASSAY_DTYPE_BOOL);
  EXPECT_EQ(in[4].low, 0.5);
  EXPECT_EQ(in[5].low, 0.25);
}

TEST(checks, dtypes_default_and_override) {
  fake_registrar got;
  const auto body = [](registry& plugin) {
    auto& group = plugin.category("c", "s");
    group.check("plain", {randn({2})}, call("x::f", in(0)));
    group.check("one", {randn({2})}, call("x::f", in(0))).dtypes({dtype::bfloat16});
  };
  ASSERT_EQ(enter(got, body), 0);
  EXPECT_EQ(got.checks.at(0).dtypes,
            (std::vector<std::int32_t>{ASSAY_DTYPE_FLOAT32, ASSAY_DTYPE_FLOAT16,
                                       ASSAY_DTYPE_BFLOAT16, ASSAY_DTYPE_FLOAT64}));
  EXPECT_EQ(got.checks.at(1).dtypes, (std::vector<std::int32_t>{ASSAY_DTYPE_BFLOAT16}));
}

TEST(checks, a_category_is_asked_for_twice_and_registered_once) {
  fake_registrar got;
  const auto body = [](registry& plugin) {
    plugin.operator_library("libextension.so");
    auto& first = plugin.category("a", "first").check("one", {}, call("x::f"));
    plugin.category("b", "second").check("two", {}, call("x::f"));
    plugin.category("a", "ignored").check("three", {}, call("x::f"));
    first.dtypes({dtype::float64});  // the reference is still good
  };
  ASSERT_EQ(enter(got, body), 0);
  EXPECT_EQ(got.categories, (texts{{"a", "first"}, {"b", "second"}}));
  EXPECT_EQ(got.order, (std::vector<std::string>{"library", "category", "check", "check",
                                                 "category", "check"}));
  EXPECT_EQ(got.libraries, (std::vector<std::string>{"libextension.so"}));
  EXPECT_EQ(got.checks.at(0).name, "one");
  EXPECT_EQ(got.checks.at(0).category, "a");
  EXPECT_EQ(got.checks.at(0).dtypes.size(), 1u);
  EXPECT_EQ(got.checks.at(1).name, "three");
  EXPECT_EQ(got.checks.at(2).category, "b");
  EXPECT_TRUE(got.failures.empty());
}

TEST(refusals, a_throwing_body_registers_nothing_and_says_why) {
  fake_registrar got;
  const auto body = [](registry& plugin) {
    plugin.category("c", "s").check("one", {}, call("x::f"));
    throw std::runtime_error("no table of shapes");
  };
  EXPECT_NE(enter(got, body), 0);
  EXPECT_TRUE(got.order.empty());
  EXPECT_EQ(got.failures, (std::vector<std::string>{"no table of shapes"}));
}

TEST(refusals, something_else_thrown_is_a_reason_too) {
  fake_registrar got;
  EXPECT_NE(enter(got, [](registry&) { throw 3; }), 0);
  ASSERT_EQ(got.failures.size(), 1u);
  EXPECT_NE(got.failures[0].find("not a std::exception"), std::string::npos);
}

struct quiet_probe : probe {
  std::string id() const override { return "test.quiet"; }
  std::string summary() const override { return "says little"; }
  probe_answer look(const probe_site&) override { return {probe_state::yes, "it is so"}; }
};

struct broken_probe : probe {
  explicit broken_probe(bool standard) : standard_(standard) {}
  std::string id() const override { return "test.broken"; }
  std::string summary() const override { return "always throws"; }
  probe_answer look(const probe_site&) override {
    if (standard_) {
      throw std::runtime_error("cannot look");
    }
    throw 1;
  }

 private:
  bool standard_;
};

struct reading_classifier : classifier {
  std::string id() const override { return "test.reader"; }
  std::string summary() const override { return "repeats what it read"; }
  std::vector<diagnosis> classify(const failure& f) override {
    if (f.status == "throw") {
      throw std::runtime_error("cannot read");
    }
    if (f.status == "throw 1") {
      throw 1;
    }
    if (f.error_text.empty()) {
      return {};
    }
    return {{"first", std::string(f.error_text), "do this", "likely", {"line 1", "line 2"}},
            {"second", std::string(f.torch_build), "do that"}};
  }
};

TEST(refusals, a_refused_registration_stops_and_passes_the_text) {
  for (const char* kind : {"library", "category", "check", "probe", "classifier"}) {
    fake_registrar got;
    got.refuse(kind, "c/one is there already");
    const auto body = [](registry& plugin) {
      plugin.operator_library("a.so");
      plugin.category("c", "s").check("one", {}, call("x::f"));
      plugin.add(std::make_unique<quiet_probe>());
      plugin.add(std::make_unique<reading_classifier>());
    };
    EXPECT_NE(enter(got, body), 0) << kind;
    EXPECT_EQ(got.order.back(), kind);
    EXPECT_EQ(got.failures, (std::vector<std::string>{"c/one is there already"})) << kind;
  }
}

TEST(diagnostics, probes_answer_through_the_c_interface) {
  fake_registrar got;
  const auto body = [](registry& plugin) {
    plugin.add(std::make_unique<quiet_probe>());
    plugin.add(std::make_unique<broken_probe>(true));
    plugin.add(std::make_unique<broken_probe>(false));
  };
  ASSERT_EQ(enter(got, body), 0);
  ASSERT_EQ(got.probes.size(), 3u);
  EXPECT_EQ(got.probes[0].id, "test.quiet");
  EXPECT_EQ(got.probes[0].summary, "says little");

  fake_sink answer;
  EXPECT_EQ(got.probes[0].run(got.probes[0].self, answer.table()), 0);
  EXPECT_EQ(answer.pairs, (texts{{"state", "yes"}, {"fact", "it is so"}}));

  fake_sink standard;
  EXPECT_NE(got.probes[1].run(got.probes[1].self, standard.table()), 0);
  EXPECT_EQ(standard.pairs, (texts{{"reason", "cannot look"}}));

  fake_sink other;
  EXPECT_NE(got.probes[2].run(got.probes[2].self, other.table()), 0);
  ASSERT_EQ(other.pairs.size(), 1u);
  EXPECT_EQ(other.pairs[0].first, "reason");
}

TEST(diagnostics, classifiers_answer_through_the_c_interface) {
  fake_registrar got;
  const auto body = [](registry& p) { p.add(std::make_unique<reading_classifier>()); };
  ASSERT_EQ(enter(got, body), 0);
  const auto& k = got.classifiers.at(0);
  EXPECT_EQ(k.id, "test.reader");

  assay_failure f{};  // every text is NULL
  f.struct_size = sizeof f;
  fake_sink nothing;
  EXPECT_EQ(k.classify(k.self, &f, nothing.table()), 0);
  EXPECT_TRUE(nothing.pairs.empty());

  f.error_text = "hiprtc failed";
  f.torch_build = "rocm";
  fake_sink two;
  EXPECT_EQ(k.classify(k.self, &f, two.table()), 0);
  EXPECT_EQ(two.pairs, (texts{{"code", "first"},
                              {"cause", "hiprtc failed"},
                              {"advice", "do this"},
                              {"confidence", "likely"},
                              {"evidence", "line 1"},
                              {"evidence", "line 2"},
                              {"code", "second"},
                              {"cause", "rocm"},
                              {"advice", "do that"},
                              {"confidence", "possible"}}));

  for (const char* status : {"throw", "throw 1"}) {
    f.status = status;
    fake_sink why;
    EXPECT_NE(k.classify(k.self, &f, why.table()), 0);
    ASSERT_EQ(why.pairs.size(), 1u);
    EXPECT_EQ(why.pairs[0].first, "reason");
  }
}

TEST(stamp, says_what_was_written_and_is_zero_behind_it) {
  const assay_stamp& s = assay_plugin_stamp;
  EXPECT_EQ(std::memcmp(s.magic, ASSAY_STAMP_MAGIC, sizeof s.magic), 0);
  EXPECT_EQ(s.struct_size, sizeof(assay_stamp));
  EXPECT_EQ(s.abi_major, ASSAY_ABI_MAJOR);
  EXPECT_EQ(s.abi_minor, ASSAY_ABI_MINOR);
  assay_stamp expected{};
  std::memcpy(expected.magic, ASSAY_STAMP_MAGIC, sizeof expected.magic);
  expected.struct_size = sizeof expected;
  expected.abi_major = ASSAY_ABI_MAJOR;
  expected.abi_minor = ASSAY_ABI_MINOR;
  std::strcpy(expected.id, "test.registry");
  std::strcpy(expected.version, "1.2");
  std::strcpy(expected.vendor, "a test");
  std::strcpy(expected.accelerator, "rocm");
  EXPECT_EQ(std::memcmp(&s, &expected, sizeof s), 0);
}

TEST(stamp, accelerator_is_any_unless_named) {
  constexpr assay_stamp s = detail::make_stamp("a", "1", "b");
  EXPECT_STREQ(s.accelerator, "any");
}

// These are the interface's promise for major 1: a change here is a change of major.
TEST(stamp, layout_is_fixed) {
  EXPECT_EQ(offsetof(assay_stamp, brings), 152u);  // since minor 3: the end of the first stamp
  EXPECT_EQ(sizeof(assay_stamp), 156u);
  EXPECT_EQ(offsetof(assay_stamp, struct_size), 8u);
  EXPECT_EQ(offsetof(assay_stamp, abi_major), 12u);
  EXPECT_EQ(offsetof(assay_stamp, abi_minor), 14u);
  EXPECT_EQ(offsetof(assay_stamp, id), 16u);
  EXPECT_EQ(offsetof(assay_stamp, version), 64u);
  EXPECT_EQ(offsetof(assay_stamp, vendor), 88u);
  EXPECT_EQ(offsetof(assay_stamp, accelerator), 136u);
}

TEST(entry, the_macro_defines_one_that_registers) {
  fake_registrar got;
  assay_host host{};
  host.struct_size = sizeof host;
  ASSERT_EQ(assay_plugin_entry(&host, got.table()), 0);
  EXPECT_EQ(got.categories, (texts{{"own", "of this test"}}));
  EXPECT_EQ(got.checks.at(0).calls.at(0).op, "aten::relu");
}

}  // namespace
