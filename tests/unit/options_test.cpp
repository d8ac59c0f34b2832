// SPDX-License-Identifier: Apache-2.0
#include "host/assay/options.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "host/assay/errors.hpp"
#include "host/assay/option_table.hpp"
#include "temp_dir.hpp"

namespace assay {
namespace {

using strings = std::vector<std::string>;

#ifdef _WIN32
const std::string path_separator = ";";
#else
const std::string path_separator = ":";
#endif

class options_test : public ::testing::Test {
 protected:
  options_test() {
    world_.current_dir = temp_.make_dir("work");
    world_.user_config_file = temp_.path() / "config" / "assay" / "assay.ini";
  }

  run_options parse(const strings& arguments) { return parse_run_options(arguments, world_); }

  /// The message of the usage_error, which must be one line.
  template <typename Function>
  std::string error_of(Function function) {
    try {
      function();
    } catch (const usage_error& error) {
      const std::string text = error.what();
      EXPECT_EQ(text.find('\n'), std::string::npos) << text;
      return text;
    }
    return "no error";
  }
  std::string error_of(const strings& arguments) {
    return error_of([&] { parse(arguments); });
  }

  void project(const std::string& text) { temp_.write("work/assay.ini", text); }
  void user(const std::string& text) { temp_.write("config/assay/assay.ini", text); }

  testing::temp_dir temp_;
  environment world_;
};

#define EXPECT_HAS(text, part) \
  EXPECT_NE(std::string(text).find(part), std::string::npos) << (text) << "\nlacks: " << (part)

TEST_F(options_test, defaults) {
  const run_options options = parse({});
  EXPECT_EQ(options.device, "auto");
  EXPECT_EQ(options.profile, "classic");
  EXPECT_TRUE(options.enable.empty());
  EXPECT_TRUE(options.dtypes.empty());
  EXPECT_EQ(options.timeout_s, 120.0);
  EXPECT_EQ(options.repeat_neighbours, 1u);
  EXPECT_FALSE(options.trust_plugins);
  EXPECT_FALSE(options.torch_dir);
  EXPECT_EQ(options.settings.at("timeout").value, "120");
  EXPECT_EQ(options.settings.at("timeout").source, option_source::built_in);
  EXPECT_EQ(options.settings.at("torch").value, "");
}

TEST_F(options_test, every_option_of_run_on_the_command_line) {
  temp_.make_dir("work/packs");
  temp_.make_dir("work/torch");
  const run_options options = parse({"--device",
                                     "cuda:1",
                                     "--enable",
                                     "elementwise",
                                     "--enable=conv/*",
                                     "--disable",
                                     "norm",
                                     "--profile",
                                     "measure",
                                     "--dtype",
                                     "half",
                                     "--dtype",
                                     "bf16",
                                     "--timeout",
                                     "0.5",
                                     "--measure-limit",
                                     "3",
                                     "--plugin-dir",
                                     "packs",
                                     "--trust-plugins",
                                     "--torch",
                                     "torch",
                                     "--json",
                                     "-",
                                     "--junit",
                                     "out.xml",
                                     "--no-color",
                                     "--list-only",
                                     "--seed",
                                     "7",
                                     "--repeat-neighbours",
                                     "0"});
  EXPECT_EQ(options.device, "cuda:1");
  EXPECT_EQ(options.enable, (strings{"elementwise", "conv/*"}));
  EXPECT_EQ(options.disable, strings{"norm"});
  EXPECT_EQ(options.profile, "measure");
  EXPECT_EQ(options.dtypes, (strings{"float16", "bfloat16"}));
  EXPECT_EQ(options.timeout_s, 0.5);
  EXPECT_EQ(options.measure_limit_s, 3.0);
  ASSERT_EQ(options.plugin_dirs.size(), 1u);
  EXPECT_EQ(options.plugin_dirs[0], world_.current_dir / "packs");
  EXPECT_TRUE(options.trust_plugins);
  EXPECT_EQ(options.torch_dir, world_.current_dir / "torch");
  EXPECT_EQ(options.json_file, "-");
  EXPECT_EQ(options.junit_file, world_.current_dir / "out.xml");
  EXPECT_TRUE(options.no_color);
  EXPECT_TRUE(options.list_only);
  EXPECT_EQ(options.seed, 7u);
  EXPECT_EQ(options.repeat_neighbours, 0u);
  EXPECT_EQ(options.settings.at("enable").value, "elementwise,conv/*");
  EXPECT_EQ(options.settings.at("enable").source, option_source::command_line);
  EXPECT_EQ(options.settings.at("enable").origin, "--enable");
}

TEST_F(options_test, dtype_aliases_and_repeats) {
  const run_options options =
      parse({"--dtype", "fp16", "--dtype", "half", "--dtype", "float", "--dtype", "fp32", "--dtype",
             "double", "--dtype", "fp64", "--dtype", "bfloat16"});
  EXPECT_EQ(options.dtypes, (strings{"float16", "float32", "float64", "bfloat16"}));
  EXPECT_EQ(parse({"--dtype", "fp16,float32", "--dtype", "bf16"}).dtypes,
            (strings{"float16", "float32", "bfloat16"}));
  EXPECT_HAS(error_of({"--dtype", ","}), "--dtype");
  EXPECT_HAS(error_of({"--dtype", ""}), "--dtype");
  EXPECT_HAS(error_of({"--dtype", "flaot32"}), "did you mean 'float32'?");
  EXPECT_HAS(error_of({"--dtype", "int8"}), "use float32, float16, bfloat16 or float64");
}

TEST_F(options_test, devices) {
  for (const char* device : {"auto", "cpu", "cuda", "cuda:0", "cuda:12", "hip", "hip:3", "all"}) {
    EXPECT_EQ(parse({"--device", device}).device, device);
  }
  for (const char* device : {"cpu:0", "cuda:", "cuda:x", "cuda:-1", "hip:1234", "all:1", ""}) {
    EXPECT_HAS(error_of({"--device", device}), "--device");
  }
  EXPECT_HAS(error_of({"--device", "cude"}), "did you mean 'cuda'?");
  EXPECT_HAS(error_of({"--device", "CUDA"}), "did you mean 'cuda'?");
  EXPECT_HAS(error_of({"--device", "rocm"}), "did you mean 'hip'?");
}

TEST_F(options_test, profiles) {
  EXPECT_EQ(parse({"--profile", "quick"}).profile, "quick");
  EXPECT_EQ(error_of({"--profile", "quik"}),
            "--profile: unknown profile 'quik'; use classic, quick or measure; did you mean "
            "'quick'?");
}

TEST_F(options_test, evidence) {
  const run_options built_in = parse({});
  EXPECT_TRUE(built_in.evidence);
  EXPECT_FALSE(built_in.refresh_ceilings);
  EXPECT_EQ(built_in.baseline, "");
  EXPECT_EQ(built_in.sizes, "auto");
  EXPECT_FALSE(built_in.split);
  EXPECT_FALSE(built_in.trace_libs);
  EXPECT_FALSE(built_in.chrome_trace_dir);
  EXPECT_EQ(built_in.settings.at("no-evidence").value, "false");
  const run_options options = parse({"--refresh-ceilings", "--baseline", "cpu", "--sizes", "large",
                                     "--split", "--trace-libs", "--chrome-trace", "traces"});
  EXPECT_TRUE(options.refresh_ceilings);
  EXPECT_EQ(options.baseline, "cpu");
  EXPECT_EQ(options.sizes, "large");
  EXPECT_TRUE(options.split);
  EXPECT_TRUE(options.trace_libs);
  EXPECT_EQ(options.chrome_trace_dir, world_.current_dir / "traces");
  EXPECT_FALSE(parse({"--no-evidence"}).evidence);
  world_.variables = {{"ASSAY_NO_EVIDENCE", "yes"}};
  EXPECT_FALSE(parse({}).evidence);
  EXPECT_EQ(error_of({"--split"}),
            "--split needs the evidence that ASSAY_NO_EVIDENCE leaves out; take one of them out");
  EXPECT_HAS(error_of({"--chrome-trace", "traces"}), "--chrome-trace needs the evidence");
  EXPECT_HAS(error_of({"--baseline", "cpu"}), "--baseline needs the evidence");
  EXPECT_HAS(error_of({"--refresh-ceilings"}), "--refresh-ceilings needs the evidence");
  EXPECT_TRUE(parse({"--trace-libs"}).trace_libs);  // it needs no evidence
  EXPECT_TRUE(parse({"--split", "--no-evidence=no"}).split);
}

TEST_F(options_test, wrong_values_of_the_evidences_options) {
  EXPECT_EQ(error_of({"--baseline", "cuda"}), "--baseline: unknown baseline 'cuda'; use cpu");
  EXPECT_HAS(error_of({"--baseline", "CPU"}), "did you mean 'cpu'?");
  EXPECT_EQ(error_of({"--sizes", "larg"}),
            "--sizes: unknown sizes 'larg'; use classic, large or auto; did you mean 'large'?");
  EXPECT_HAS(error_of({"--no-evidense"}), "did you mean '--no-evidence'?");
  temp_.write("work/file", "");
  EXPECT_HAS(error_of({"--chrome-trace", "file"}), "is a file; name a folder");
  EXPECT_HAS(error_of({"--chrome-trace", "no/where"}), "there is no folder in which to make");
}

TEST_F(options_test, standard_output_by_another_name) {
  EXPECT_EQ(parse({"--json", "/dev/stdout"}).json_file, "-");
}

TEST_F(options_test, numbers) {
  EXPECT_HAS(error_of({"--timeout", "0"}), "out of range");
  EXPECT_HAS(error_of({"--timeout", "-5"}), "out of range");
  EXPECT_HAS(error_of({"--timeout", "1e9"}), "at most 604800");
  for (const char* text : {"30s", "abc", "nan", "inf", "1,5", " 3", "0x10"}) {
    EXPECT_HAS(error_of({"--timeout", text}), "is not a number of seconds");
    EXPECT_HAS(error_of({"--measure-limit", text}), "is not a number of seconds");
  }
  EXPECT_EQ(parse({"--seed", "18446744073709551615"}).seed, 18446744073709551615u);
  EXPECT_HAS(error_of({"--seed", "18446744073709551616"}), "too large");
  EXPECT_HAS(error_of({"--seed", "-1"}), "is not a whole number");
  EXPECT_HAS(error_of({"--seed", "1.5"}), "is not a whole number");
  EXPECT_HAS(error_of({"--repeat-neighbours", "1001"}), "too large");
}

TEST_F(options_test, folders_and_files) {
  temp_.write("work/file", "");
  temp_.make_dir("work/folder");
  EXPECT_HAS(error_of({"--plugin-dir", "nowhere"}), "there is no folder");
  EXPECT_HAS(error_of({"--plugin-dir", "file"}), "is a file");
  EXPECT_HAS(error_of({"--torch", "nowhere"}), "--torch: there is no folder");
  EXPECT_HAS(error_of({"--json", "folder"}), "is a folder");
  EXPECT_HAS(error_of({"--json", "nowhere/out"}), "to write into");
  EXPECT_HAS(error_of({"--junit", "-"}), "cannot go to standard output");
  EXPECT_HAS(error_of({"--json", "out", "--junit", "./out"}), "both name");
}

TEST_F(options_test, wrong_command_lines) {
  EXPECT_EQ(error_of({"--devise", "cpu"}), "unknown option --devise; did you mean '--device'?");
  EXPECT_HAS(error_of({"--devise=cpu"}), "did you mean '--device'?");
  EXPECT_HAS(error_of({"--frobnicate"}), "assay run --help lists the options");
  EXPECT_HAS(error_of({"-x"}), "unknown option -x");
  EXPECT_HAS(error_of({"--dev", "cpu"}), "unknown option --dev");  // nothing is guessed
  EXPECT_EQ(error_of({"--timeout"}), "--timeout needs a value: --timeout S");
  EXPECT_EQ(error_of({"--timeout", "--no-color"}), "--timeout needs a value: --timeout S");
  EXPECT_EQ(error_of({"--timeout="}), "--timeout needs a value: --timeout S");
  EXPECT_HAS(error_of({"--enable", ""}), "--enable is empty");
  EXPECT_EQ(error_of({"--device", "cpu", "--device", "all"}),
            "--device is given twice ('cpu' and 'all'); give it once");
  EXPECT_HAS(error_of({"--python"}), "unknown option --python");
}

TEST_F(options_test, a_bare_word_suggests_enable) {
  EXPECT_EQ(error_of({"elementwise"}),
            "'elementwise' is not an option; to choose checks: assay run --enable elementwise");
  EXPECT_HAS(error_of({"--device", "cpu", "--", "conv"}), "--enable conv");
  EXPECT_HAS(error_of({""}), "is not an option");
}

TEST_F(options_test, flags_can_be_undone) {
  world_.variables["ASSAY_TRUST_PLUGINS"] = "yes";
  world_.variables["NO_COLOR"] = "1";
  EXPECT_TRUE(parse({}).trust_plugins);
  const run_options options = parse({"--trust-plugins=no", "--no-color=false"});
  EXPECT_FALSE(options.trust_plugins);
  EXPECT_FALSE(options.no_color);
}

TEST_F(options_test, no_color_convention) {
  world_.variables["NO_COLOR"] = "";
  EXPECT_FALSE(parse({}).no_color);
  world_.variables["NO_COLOR"] = "0";  // any text, by the convention
  EXPECT_TRUE(parse({}).no_color);
  EXPECT_EQ(parse({}).settings.at("no-color").origin, "NO_COLOR");
  world_.variables["ASSAY_NO_COLOR"] = "0";
  EXPECT_FALSE(parse({}).no_color);
}

TEST_F(options_test, environment_variables) {
  temp_.make_dir("work/a");
  temp_.make_dir("work/b");
  world_.variables = {{"ASSAY_DEVICE", "hip"},
                      {"ASSAY_ENABLE", "conv, norm/*,"},
                      {"ASSAY_DTYPE", "half,float"},
                      {"ASSAY_PLUGIN_DIR", (world_.current_dir / "a").string() + path_separator +
                                               (world_.current_dir / "b").string()},
                      {"ASSAY_LIST_ONLY", "TRUE"},
                      {"ASSAY_MEASURE_LIMIT", ""},
                      {"PATH", "whatever"}};
  const run_options options = parse({});
  EXPECT_EQ(options.device, "hip");
  EXPECT_EQ(options.enable, (strings{"conv", "norm/*"}));
  EXPECT_EQ(options.dtypes, (strings{"float16", "float32"}));
  EXPECT_EQ(options.plugin_dirs.size(), 2u);
  EXPECT_TRUE(options.list_only);
  EXPECT_EQ(options.measure_limit_s, 2.0);  // an empty variable is none
  EXPECT_EQ(options.settings.at("device").source, option_source::environment);
  EXPECT_EQ(options.settings.at("device").origin, "ASSAY_DEVICE");
}

TEST_F(options_test, what_code_runs_does_not_depend_on_the_current_folder) {
  temp_.make_dir("work/packs");
  temp_.write("work/lock.toml", "");
  for (const auto& [variable, text] :
       {std::pair("ASSAY_PLUGIN_DIR", "packs"), std::pair("ASSAY_PLUGIN_DIR", "./packs"),
        std::pair("ASSAY_PLUGINS_LOCK", "lock.toml"), std::pair("ASSAY_TORCH", "packs")}) {
    world_.variables = {{variable, text}};
    EXPECT_HAS(error_of(strings{}), std::string(variable) + ": '" + text + "' is relative");
  }
  world_.variables = {{"ASSAY_PLUGIN_DIR", path_separator}};
  EXPECT_TRUE(parse({}).plugin_dirs.empty()) << "an empty entry is not the current folder";
  world_.variables.clear();
  EXPECT_EQ(parse({"--plugins-lock", "lock.toml"}).plugins_lock, world_.current_dir / "lock.toml");
}

TEST_F(options_test, options_of_plugins) {
  world_.variables = {{"ASSAY_SET", "norm.eps=1e-6, com.acme.ops.width=64"}};
  const run_options options = parse({});
  ASSERT_EQ(options.set.size(), 2U);
  EXPECT_EQ(options.set[1].plugin, "com.acme.ops");
  EXPECT_EQ(options.set[1].name, "width");
  EXPECT_EQ(options.set[1].value, "64");
  EXPECT_EQ(options.settings.at("set").value, "norm.eps=1e-6,com.acme.ops.width=64");
  EXPECT_EQ(parse({"--set", "a.b=c,d"}).set.at(0).value, "c,d");
  project("set = norm.eps=1\n");
  EXPECT_HAS(error_of(strings{}), "'set' may not stand in a folder's own assay.ini");
}

TEST_F(options_test, wrong_environment_variables) {
  world_.variables = {{"ASSAY_DEVISE", "cpu"}};
  EXPECT_EQ(error_of(strings{}),
            "unknown environment variable ASSAY_DEVISE; did you mean 'ASSAY_DEVICE'?");
  world_.variables = {{"ASSAY_FROBNICATE", "cpu"}};
  EXPECT_HAS(error_of(strings{}), "unset it");
  world_.variables = {{"ASSAY_TIMEOUT", "soon"}};
  EXPECT_EQ(error_of(strings{}),
            "ASSAY_TIMEOUT: 'soon' is not a number of seconds; use one such as 30 or 0.5");
  world_.variables = {{"ASSAY_LIST_ONLY", "maybe"}};
  EXPECT_HAS(error_of(strings{}), "use true, false, 1, 0, yes or no");
}

TEST_F(options_test, precedence_of_the_five_sources) {
  const auto source = [&](const strings& arguments) {
    return parse(arguments).settings.at("seed").source;
  };
  user("seed = 1\n");
  EXPECT_EQ(parse({}).seed, 1u);
  EXPECT_EQ(source({}), option_source::user_config);
  project("seed = 2\n");
  EXPECT_EQ(parse({}).seed, 2u);
  EXPECT_EQ(source({}), option_source::project_config);
  temp_.write("named.ini", "seed = 3\n");
  const strings named = {"--config", (temp_.path() / "named.ini").string()};
  EXPECT_EQ(parse(named).seed, 3u);
  EXPECT_EQ(source(named), option_source::config_file);
  world_.variables["ASSAY_SEED"] = "4";
  EXPECT_EQ(parse(named).seed, 4u);
  EXPECT_EQ(source(named), option_source::environment);
  const strings all = {named[0], named[1], "--seed", "5"};
  EXPECT_EQ(parse(all).seed, 5u);
  EXPECT_EQ(source(all), option_source::command_line);
}

TEST_F(options_test, a_list_replaces_the_lower_sources_list) {
  user("enable = conv\nenable = norm\ndisable = linear\n");
  EXPECT_EQ(parse({}).enable, (strings{"conv", "norm"}));
  world_.variables["ASSAY_ENABLE"] = "reduction";
  EXPECT_EQ(parse({}).enable, strings{"reduction"});
  const run_options options = parse({"--enable", "elementwise"});
  EXPECT_EQ(options.enable, strings{"elementwise"});
  EXPECT_EQ(options.disable, strings{"linear"});
}

TEST_F(options_test, a_configuration_file_may_hold_everything_but_config) {
  temp_.make_dir("conf/packs");
  temp_.make_dir("conf/torch");
  const auto file = temp_.write("conf/named.ini",
                                "\xEF\xBB\xBF# a comment\r\n"
                                "device = cpu  # another\r\n"
                                "enable = conv, norm/*\r\n"
                                "profile=quick\r\n"
                                "plugin-dir = packs\r\n"
                                "trust-plugins = yes\r\n"
                                "torch = torch\r\n"
                                "json = out.jsonl\r\n"
                                "no-color = 1\r\n");
  const run_options options = parse({"--config", "../conf/named.ini"});
  EXPECT_EQ(options.device, "cpu");
  EXPECT_EQ(options.enable, (strings{"conv", "norm/*"}));
  EXPECT_EQ(options.profile, "quick");
  ASSERT_EQ(options.plugin_dirs.size(), 1u);
  EXPECT_EQ(options.plugin_dirs[0], temp_.path() / "conf/packs");  // relative to the file
  EXPECT_TRUE(options.trust_plugins);
  EXPECT_EQ(options.torch_dir, temp_.path() / "conf/torch");
  EXPECT_EQ(options.json_file, temp_.path() / "conf/out.jsonl");
  EXPECT_TRUE(options.no_color);
  EXPECT_EQ(options.settings.at("torch").origin, file.string() + ": torch");
  temp_.write("conf/named.ini", "config = other.ini\n");
  EXPECT_HAS(error_of({"--config", "../conf/named.ini"}), "cannot name another one");
}

TEST_F(options_test, assay_config_names_the_file_too) {
  world_.variables["ASSAY_CONFIG"] = temp_.write("env.ini", "seed = 9\n").string();
  EXPECT_EQ(parse({}).seed, 9u);
  const auto other = temp_.write("other.ini", "device = cpu\n").string();
  const run_options options = parse({"--config", other});
  EXPECT_EQ(options.seed, 0u);
  EXPECT_EQ(options.device, "cpu");
}

TEST_F(options_test, wrong_configuration_files) {
  const auto error_in = [&](const std::string& text) {
    const std::string file = temp_.write("bad.ini", text).string();
    const std::string error = error_of({"--config", file});
    EXPECT_EQ(error.find(file), 0u) << error;
    return error.substr(std::min(file.size(), error.size()));
  };
  EXPECT_EQ(error_in("devise = cpu\n"), ": unknown key 'devise'; did you mean 'device'?");
  EXPECT_HAS(error_in("frobnicate = 1\n"), "docs/options.md lists the keys");
  EXPECT_HAS(error_in("device\n"), "cannot read the line 'device'; write key = value");
  EXPECT_HAS(error_in("[run]\ndevice = cpu\n"), "section [run]");
  EXPECT_HAS(error_in("device = cpu\ndevice = all\n"), ": device is given twice");
  EXPECT_HAS(error_in("device =\n"), ": device is empty");
  EXPECT_HAS(error_in("timeout = soon\n"), ": timeout: 'soon' is not a number");
  EXPECT_HAS(error_in("trust-plugins = perhaps\n"), "neither yes nor no");
  EXPECT_HAS(error_of({"--config", "nowhere.ini"}), "there is no such file");
  EXPECT_HAS(error_of({"--config", "."}), "cannot be read");
}

TEST_F(options_test, the_folders_own_file_may_hold_only_harmless_keys) {
  project(
      "device=cpu\nenable=conv\ndisable=norm\nprofile=quick\ndtype=half\ntimeout=1\n"
      "measure-limit=1\nseed=1\nrepeat-neighbours=2\nno-color=yes\nno-evidence=no\n"
      "refresh-ceilings=no\nbaseline=cpu\nsizes=classic\nsplit=yes\ntrace-libs=yes\n");
  EXPECT_EQ(parse({}).repeat_neighbours, 2u);
  for (const std::string key :
       {"plugin-dir", "trust-plugins", "torch", "json", "junit", "list-only", "chrome-trace"}) {
    project(key + " = 1\n");
    const std::string error = error_of(strings{});
    EXPECT_HAS(error, "'" + key + "' may not stand in a folder's own assay.ini");
    EXPECT_HAS(error, "use --" + key + ", " + variable_name(key));
    EXPECT_HAS(error, world_.user_config_file.string());
    // Not even where the command line has the last word.
    EXPECT_HAS(error_of({"--device", "cpu"}), "may not stand");
  }
  project("config = elsewhere.ini\n");
  EXPECT_HAS(error_of(strings{}), "cannot name another one");
}

TEST_F(options_test, a_file_that_the_user_chose_is_no_strangers) {
  temp_.make_dir("work/torch");
  project("torch = torch\n");
  EXPECT_TRUE(parse({"--config", "assay.ini"}).torch_dir);
  world_.user_config_file = world_.current_dir / "assay.ini";
  EXPECT_EQ(parse({}).settings.at("torch").source, option_source::user_config);
}

TEST_F(options_test, other_subcommands_keys_do_no_harm) {
  world_.variables = {{"ASSAY_TIMEOUT", "soon"}, {"ASSAY_PROFILE", "quick"}};
  user("junit = nowhere/at/all.xml\n");
  EXPECT_FALSE(parse_list_options({}, world_).json);
  EXPECT_EQ(parse_show_options({"conv/conv2d"}, world_).check, "conv/conv2d");
  world_.variables = {{"ASSAY_TIMEOUTS", "soon"}};
  EXPECT_HAS(error_of([&] { parse_list_options({}, world_); }), "did you mean 'ASSAY_TIMEOUT'?");
}

TEST_F(options_test, list) {
  temp_.make_dir("work/packs");
  const list_request request = parse_list_options(
      {"--plugin-dir", "packs", "--trust-plugins", "--enable", "conv", "--no-color", "--json"},
      world_);
  EXPECT_TRUE(request.json);
  EXPECT_EQ(request.options.plugin_dirs.size(), 1u);
  EXPECT_EQ(request.options.enable, strings{"conv"});
  EXPECT_FALSE(request.options.json_file);
  EXPECT_EQ(error_of([&] {
              parse_list_options({"--profile", "quick"}, world_);
            }),
            "assay list has no option --profile, another subcommand has; assay list --help lists "
            "those that it has");
  EXPECT_HAS(error_of([&] { parse_list_options({"conv"}, world_); }), "assay list --enable conv");
}

TEST_F(options_test, show) {
  const show_request request = parse_show_options(
      {"conv/conv2d[float32]", "--python", "--dtype", "half", "--device", "cpu", "--seed", "3"},
      world_);
  EXPECT_EQ(request.check, "conv/conv2d[float32]");
  EXPECT_TRUE(request.python);
  EXPECT_EQ(request.options.dtypes, strings{"float16"});
  EXPECT_EQ(request.options.device, "cpu");
  EXPECT_EQ(request.options.seed, 3u);
  EXPECT_HAS(error_of([&] { parse_show_options({}, world_); }), "assay show CHECK");
  EXPECT_HAS(error_of([&] { parse_show_options({"a", "b"}, world_); }), "takes one check");
  EXPECT_HAS(error_of([&] { parse_show_options({""}, world_); }), "is empty");
}

TEST(help_text_test, names_every_option_of_the_subcommand) {
  for (const auto command : {subcommand::run, subcommand::list, subcommand::show}) {
    const std::string text = help_text(command);
    for (const option_spec& spec : option_table()) {
      const bool there = text.find("--" + std::string(spec.name) + " ") != std::string::npos;
      EXPECT_EQ(there,
                known_to(spec, command) || (command == subcommand::list && spec.name == "json"))
          << spec.name;
    }
    EXPECT_HAS(text, "--help");
  }
  EXPECT_EQ(variable_name("plugin-dir"), "ASSAY_PLUGIN_DIR");
}

TEST_F(options_test, architectures) {
  const auto given = [&](const std::string& name) {
    return parse_doctor_options({"--architecture", name}, world_).options.architecture;
  };
  for (const char* name :
       {"gfx1032", "gfx90a", "gfx942", "gfx90a:sramecc+:xnack-", "sm_90", "sm_90a", "sm_120"}) {
    EXPECT_EQ(given(name), name);
  }
  EXPECT_EQ(given("GFX1032"), "gfx1032");
  for (const char* name : {"foo", "gfx", "gfxyz", "gfx1032x", "sm_", "sm_9", "sm90", "1032", "s"}) {
    EXPECT_HAS(error_of([&] { given(name); }), "is not the name of a GPU architecture") << name;
  }
}

TEST_F(options_test, what_explain_does_not_take_together) {
  const auto refused = [&](const strings& arguments) {
    return error_of([&] { parse_explain_options(arguments, world_); });
  };
  EXPECT_HAS(refused({"--catalogue", "run.log"}), "--catalogue and 'run.log' do not go together");
  EXPECT_HAS(refused({"--catalogue", "--here"}), "--catalogue and --here");
  EXPECT_HAS(refused({"--probe-prefix", "true"}), "--probe-prefix needs --here");
  EXPECT_EQ(refused({"--catalogue", "--json"}), "no error");
  world_.variables["ASSAY_PROBE_PREFIX"] = "true";  // for other calls, and no slip of this one
  EXPECT_EQ(refused({"run.log"}), "no error");
}

}  // namespace
}  // namespace assay
