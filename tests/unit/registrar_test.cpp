// SPDX-License-Identifier: Apache-2.0
//
// What the worker says of options, requirements and strides as a plugin registers them.
#include "host/worker/registrar.hpp"

#include <gtest/gtest.h>
#include <assay/plugin.hpp>

#include <functional>
#include <nlohmann/json.hpp>

namespace assay::worker {
namespace {

using nlohmann::json;

/// Why the host turns this plugin "p" down; "" when it does not.
std::string refusal(registrations& plugin, const std::function<void(registry&)>& body) {
  plugin.id = "p";
  registrar target(plugin);
  try {
    registry staged(target.c_form());
    body(staged);
    staged.commit(target.c_form());
    return "";
  } catch (const registration_error& e) {
    return e.what();
  }
}

std::string refusal(const std::function<void(registry&)>& body) {
  registrations plugin;
  return refusal(plugin, body);
}

std::string refused_setting(const std::string& name, const std::string& text) {
  registrations plugin;
  plugin.given_options = {{name, text}};
  return refusal(plugin, [](registry& r) {
    r.option("eps", 1e-5, "epsilon", 0.0, 1.0);
    r.option("rows", 128, "how many rows", 1.0, 4096.0);
    r.option("fused", true, "one kernel for all");
    r.option("mode", "fast", "how", "fast,exact");
  });
}

TEST(plugin_options, the_default_or_the_users_word) {
  registrations plugin;
  plugin.given_options = {{"eps", "1e-3"}, {"rows", "-7"}, {"fused", "no"}, {"mode", "exact"}};
  EXPECT_EQ(refusal(plugin,
                    [](registry& r) {
                      EXPECT_EQ(r.option("eps", 1e-5, "epsilon"), 1e-3);
                      EXPECT_EQ(r.option("rows", 128, "how many rows"), -7);
                      EXPECT_FALSE(r.option("fused", true, "one kernel for all"));
                      EXPECT_EQ(r.option("mode", "fast", "how", "fast,exact"), "exact");
                      EXPECT_EQ(r.option("other", 0.25, "not set", 0.0, 1.0), 0.25);
                    }),
            "");
  ASSERT_EQ(plugin.options.size(), 5U);
  EXPECT_EQ(plugin.options[0]["default"], 1e-5);
  EXPECT_EQ(plugin.options[0]["value"], 1e-3);
  EXPECT_EQ(plugin.options[1]["kind"], "integer");
  EXPECT_EQ(plugin.options[2]["value"], false);
  EXPECT_EQ(plugin.options[3]["choices"], (json{"fast", "exact"}));
  EXPECT_EQ(plugin.options[4]["high"], 1.0);
}

TEST(plugin_options, a_wrong_value_is_told_what_the_option_takes) {
  EXPECT_EQ(refused_setting("eps", "x"),
            "--set p.eps=x: this option takes a number between 0.0 and 1.0");
  EXPECT_EQ(refused_setting("eps", "2"),
            "--set p.eps=2: this option takes a number between 0.0 and 1.0");
  EXPECT_EQ(refused_setting("eps", "nan"),
            "--set p.eps=nan: this option takes a number between 0.0 and 1.0");
  EXPECT_EQ(refused_setting("rows", "1.5"),
            "--set p.rows=1.5: this option takes a whole number between 1 and 4096");
  EXPECT_EQ(refused_setting("fused", "maybe"),
            "--set p.fused=maybe: this option takes true or false");
  EXPECT_EQ(refused_setting("mode", "exakt"),
            "--set p.mode=exakt: this option takes one of fast, exact; did you mean 'exact'?");
  EXPECT_EQ(refused_setting("mode", "q"), "--set p.mode=q: this option takes one of fast, exact");
}

TEST(plugin_options, a_badly_declared_one_refuses_the_plugin) {
  EXPECT_EQ(refusal([](registry& r) { r.option("E", 1.0, ""); }),
            "option 'E': a name takes a-z, 0-9 and _ only");
  EXPECT_EQ(refusal([](registry& r) { r.option("e", 2.0, "", 0.0, 1.0); }),
            "option 'e': its default lies outside its bounds");
  EXPECT_EQ(refusal([](registry& r) { r.option("e", 2.0, "", 1.0, 0.0); }),
            "option 'e': its bounds are none, low must not be above high");
  EXPECT_EQ(refusal([](registry& r) { r.option("m", "c", "", "a,b"); }),
            "option 'm': its default 'c' is none of its choices");
  EXPECT_EQ(refusal([](registry& r) {
              r.option("e", 1.0, "");
              r.option("e", 1.0, "");
            }),
            "option 'e' is declared twice");
}

std::string refused_check(const std::function<void(check&)>& change) {
  return refusal([&](registry& r) {
    change(r.category("c", "a category").check("x", {randn({2, 3})}, call("aten::relu", in(0))));
  });
}

TEST(requirements, are_examined) {
  EXPECT_EQ(refused_check([](check& c) { c.needs({.accelerator = "rocm,cpu"}); }), "");
  EXPECT_EQ(refused_check([](check& c) { c.needs({.accelerator = "metal"}); }),
            "check 'c/x': it requires the accelerator 'metal', which is none of cpu, rocm, cuda");
  EXPECT_EQ(refused_check([](check& c) { c.needs({.torch_below = "new"}); }),
            "check 'c/x': it requires LibTorch 'new', and a version reads like 2.7 or 2.7.1");
  EXPECT_EQ(refusal([](registry& r) { r.needs({.accelerator = "metal"}); }),
            "plugin 'p': it requires the accelerator 'metal', which is none of cpu, rocm, cuda");
}

TEST(requirements, are_told_as_they_were_given) {
  registrations plugin;
  EXPECT_EQ(refusal(plugin,
                    [](registry& r) {
                      r.needs({.accelerator = "rocm"});
                      r.category("c", "a category")
                          .check("x", {strided(randn({2, 3}), {1, 2})}, call("aten::relu", in(0)))
                          .needs({.architectures = "gfx9*", .free_memory_bytes = 64})
                          .summary("one line")
                          .source("p.toml:3")
                          .weight(7);
                    }),
            "");
  EXPECT_EQ(plugin.needs.front().describe()["accelerator"], "rocm");
  const json check = plugin.checks.front().describe();
  EXPECT_EQ(check["needs"]["architectures"], "gfx9*");
  EXPECT_EQ(check["needs"]["free_memory_bytes"], 64);
  EXPECT_EQ(check["needs"]["accelerator"], nullptr);
  EXPECT_EQ(check["summary"], "one line");
  EXPECT_EQ(check["source"], "p.toml:3");
  EXPECT_EQ(check["weight"], 7);
  EXPECT_EQ(check["inputs"][0]["strides"], (json{1, 2}));
}

TEST(strides, may_repeat_and_not_overlap) {
  const auto with = [](shape sizes, shape strides) {
    return refusal([&](registry& r) {
      r.category("c", "a category")
          .check("x", {strided(randn(sizes), strides)}, call("aten::relu", in(0)));
    });
  };
  EXPECT_EQ(with({2, 3}, {0, 1}), "");
  EXPECT_EQ(with({4, 1, 3}, {3, 1, 1}), "");
  EXPECT_EQ(
      with({4, 3}, {2, 1}),
      "check 'c/x', input 0: with these strides two elements share memory; only a stride of 0 "
      "may");
  EXPECT_EQ(with({4, 3}, {-1, 4}), "check 'c/x', input 0: no stride may be below 0");
  EXPECT_EQ(with({4, 3}, {1}), "check 'c/x': an input has 2 sizes and 1 strides");
  EXPECT_EQ(with({-1}, {}), "check 'c/x', input 0: no size may be below 0");
}

}  // namespace
}  // namespace assay::worker
