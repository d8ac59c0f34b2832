// SPDX-License-Identifier: Apache-2.0
#include "host/assay/selection.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "host/assay/errors.hpp"
#include "host/assay/plugin_settings.hpp"
#include "host/assay/schedule.hpp"

namespace assay {
namespace {

using nlohmann::json;

const plugin_identity acme{"com.acme.ops", "Acme Inc", "any", false};
const plugin_identity rocm_pack{"rocm_pack", "AMD", "rocm", false};
const plugin_identity diagnostics{"diag_acme", "Acme Inc", "any", true};

selection made_of(std::vector<std::string> enable, std::vector<std::string> disable) {
  run_options options;
  options.enable = std::move(enable);
  options.disable = std::move(disable);
  options.settings["disable"] = {"", option_source::environment, "ASSAY_DISABLE"};
  return selection(options);
}

std::string said(const ruling& ruled) { return (ruled.on ? "on: " : "off: ") + ruled.line; }

std::string message(const std::function<void()>& call) {
  try {
    call();
  } catch (const usage_error& error) {
    return error.what();
  }
  return "no usage_error";
}

TEST(selection, of_plugins) {
  EXPECT_EQ(said(made_of({}, {}).plugin(acme)), "on: built in");
  EXPECT_EQ(said(made_of({"conv"}, {}).plugin(acme)), "on: built in") << "a check may be its own";
  EXPECT_EQ(said(made_of({"plugin:com.*"}, {}).plugin(acme)), "on: --enable 'plugin:com.*'");
  EXPECT_EQ(said(made_of({"plugin:com.*"}, {}).plugin(rocm_pack)), "off: --enable names others");
  EXPECT_EQ(said(made_of({"plugin:com.*", "conv"}, {}).plugin(rocm_pack)), "on: built in");
  EXPECT_EQ(said(made_of({"dtype:half"}, {}).plugin(rocm_pack)), "on: built in");
  EXPECT_EQ(said(made_of({"accelerator:rocm"}, {}).plugin(rocm_pack)),
            "on: --enable 'accelerator:rocm'");
  EXPECT_EQ(said(made_of({}, {"vendor:Acme*"}).plugin(acme)), "off: ASSAY_DISABLE 'vendor:Acme*'");
  EXPECT_EQ(said(made_of({"plugin:*"}, {"plugin:com.acme.ops"}).plugin(acme)),
            "off: ASSAY_DISABLE 'plugin:com.acme.ops'")
      << "--disable wins";
  EXPECT_EQ(said(made_of({}, {"conv", "dtype:*"}).plugin(acme)), "on: built in");
}

TEST(selection, diagnostics_stay_unless_they_are_named) {
  EXPECT_EQ(said(made_of({"plugin:norm"}, {}).plugin(diagnostics)), "on: built in");
  EXPECT_FALSE(made_of({}, {"plugin:diag_*"}).plugin(diagnostics).on);
  EXPECT_FALSE(made_of({"plugin:norm"}, {"vendor:Acme*"}).plugin(diagnostics).on);
}

TEST(selection, of_checks) {
  const checked_dtype half{"acme", "rope", "float16"};
  const checked_dtype single{"acme", "rope", "float32"};
  EXPECT_EQ(said(made_of({}, {}).check(acme, half)), "on: built in");
  EXPECT_EQ(said(made_of({"vendor:Acme*"}, {}).check(acme, half)), "on: --enable 'vendor:Acme*'");
  EXPECT_EQ(said(made_of({"plugin:x", "acme/rope"}, {}).check(acme, half)),
            "on: --enable 'acme/rope'");
  EXPECT_EQ(said(made_of({"plugin:x"}, {}).check(acme, half)), "off: --enable names others");
  EXPECT_EQ(said(made_of({"acme"}, {"dtype:half"}).check(acme, half)),
            "off: ASSAY_DISABLE 'dtype:half'");
  EXPECT_TRUE(made_of({"acme"}, {"dtype:half"}).check(acme, single).on);
  EXPECT_FALSE(made_of({}, {"dtype:*16"}).check(acme, half).on);
  EXPECT_FALSE(made_of({}, {"accelerator:any"}).check(acme, single).on);
}

TEST(selection, a_glob_that_names_a_dtype_asks_for_it) {
  const checked_dtype half{"acme", "rope", "float16"};
  const std::vector<std::string> known{"float32", "float16"};
  EXPECT_TRUE(made_of({"dtype:float16"}, {}).names_dtype(acme, half, known));
  EXPECT_TRUE(made_of({"acme/rope[float16]"}, {}).names_dtype(acme, half, known));
  EXPECT_FALSE(made_of({"plugin:com.acme.ops"}, {}).names_dtype(acme, half, known));
  EXPECT_FALSE(made_of({"dtype:*"}, {}).names_dtype(acme, half, known));
}

TEST(selection, kinds_that_there_are_not) {
  const auto said_of = [](const char* text) {
    return message([&] { parse_selector("--enable", text); });
  };
  EXPECT_EQ(said_of("plugni:norm"),
            "--enable 'plugni:norm': there is no kind 'plugni'; did you mean 'plugin'?");
  EXPECT_EQ(said_of("colour:red"),
            "--enable 'colour:red': there is no kind 'colour'; it is one of "
            "plugin, vendor, accelerator, dtype");
  EXPECT_EQ(said_of("plugin:"),
            "--enable 'plugin:': a glob belongs behind the colon, such as plugin:*");
  EXPECT_NE(said_of("dtype:flaot16").find("unknown dtype 'flaot16'"), std::string::npos);
  EXPECT_EQ(parse_selector("--enable", "dtype:half").glob, "float16");
}

catalogue one_off() {
  catalogue all;
  all.plugins = {{{"status", "loaded"}, {"id", "norm"}, {"vendor", "v"}, {"accelerator", "any"}},
                 {{"status", "off"}, {"id", "com.acme.ops"}, {"vendor", "Acme"}}};
  all.checks = {{{"check", "norm/rms"},
                 {"category", "norm"},
                 {"name", "rms"},
                 {"plugin", "norm"},
                 {"dtypes", {"float32"}}}};
  return all;
}

TEST(selection, every_glob_must_mean_something) {
  const auto said_of = [](const catalogue& all, const char* text) {
    run_options options;
    options.disable = {text};
    return message([&] { check_globs(all, options); });
  };
  const catalogue off = one_off();
  EXPECT_EQ(said_of(off, "plugin:com.acme.*"), "no usage_error") << "also of one that is off";
  EXPECT_EQ(said_of(off, "plugin:nrom"),
            "--disable 'plugin:nrom' matches no plugin; did you mean 'norm'?");
  EXPECT_EQ(said_of(off, "vendor:Acne"),
            "--disable 'vendor:Acne' matches no plugin's vendor; did you mean 'Acme'?");
  EXPECT_EQ(said_of(off, "accelerator:rocm"),
            "--disable 'accelerator:rocm' matches no plugin's accelerator; 'assay list' shows what "
            "there is");
  EXPECT_EQ(said_of(off, "acme/*"), "no usage_error") << "nobody knows what is off brings";
  catalogue on = off;
  on.plugins.pop_back();
  EXPECT_NE(said_of(on, "acme/*").find("matches no category and no check"), std::string::npos);
  EXPECT_NE(said_of(on, "dtype:float64").find("matches no check's dtype"), std::string::npos);
}

TEST(settings, of_plugins) {
  run_options options;
  add_assignment(options.set, "--set", "com.acme.ops.eps=1e-6=x.y");
  EXPECT_EQ(settings_for_worker(options), (json{{"com.acme.ops", {{"eps", "1e-6=x.y"}}}}));
  for (const char* text : {"eps=1", "norm.=1", ".eps=1", "norm.eps"}) {
    EXPECT_NE(message([&] {
                add_assignment(options.set, "ASSAY_SET", text);
              }).find("write PLUGIN.NAME=VALUE"),
              std::string::npos)
        << text;
  }
  EXPECT_EQ(message([&] { add_assignment(options.set, "--set", "com.acme.ops.eps=2"); }),
            "--set gives com.acme.ops.eps twice ('1e-6=x.y' and '2'); give it once");
}

TEST(settings, that_there_are_not) {
  const std::vector<json> plugins{
      {{"id", "norm"}, {"status", "loaded"}, {"options", {{{"name", "eps"}}}}},
      {{"id", "bare"}, {"status", "loaded"}, {"options", json::array()}},
      {{"id", "far"}, {"status", "off"}, {"reason", "--disable 'plugin:far'"}}};
  const auto said_of = [&](const char* text) {
    run_options options;
    add_assignment(options.set, "--set", text);
    std::vector<std::string> lines;
    const std::string wrong = message([&] { lines = check_settings(plugins, options); });
    return lines.empty() ? wrong : lines.front();
  };
  EXPECT_EQ(said_of("norm.eps=1"), "no usage_error");
  EXPECT_EQ(said_of("nrom.eps=1"),
            "--set 'nrom.eps=1': there is no plugin 'nrom'; did you mean 'norm'?");
  EXPECT_EQ(said_of("norm.esp=1"),
            "--set 'norm.esp=1': plugin norm has no option 'esp'; did you mean 'eps'?");
  EXPECT_EQ(said_of("norm.zzzzzz=1"),
            "--set 'norm.zzzzzz=1': plugin norm has no option 'zzzzzz'; it has eps");
  EXPECT_EQ(said_of("bare.eps=1"),
            "--set 'bare.eps=1': plugin bare has no option 'eps'; it has none");
  EXPECT_EQ(said_of("far.eps=1"),
            "--set 'far.eps=1' has no effect: plugin far is off (--disable 'plugin:far')");
}

}  // namespace
}  // namespace assay
