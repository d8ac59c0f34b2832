// SPDX-License-Identifier: Apache-2.0
#include "option_table.hpp"

#include <algorithm>
#include <boost/program_options.hpp>
#include <sstream>

namespace assay {
namespace {

std::string usage_of(subcommand command) {
  switch (command) {
    case subcommand::run:
      return "assay run [options]\n\nRuns the checks that this machine can run.";
    case subcommand::list:
      return "assay list [options]\n\nShows the plugins, their checks and the LibTorch engines.";
    case subcommand::show:
      return "assay show CHECK [options]\n\nShows one check (category/name or "
             "category/name[dtype]):"
             " its inputs and its plan.";
    case subcommand::selftest:
      return "assay selftest [options]\n\nPlants faults on this device, one after the other, and "
             "shows which link of the\nchain of evidence finds each.";
    case subcommand::explain:
      return "assay explain [FILE|-] [options]\n\nReads a log (a traceback, MIOpen's output, dmesg)"
             " and says what its errors mean\nand what to do. Without FILE: standard input.";
    case subcommand::doctor:
      return "assay doctor [options]\n\nLooks at this machine: driver, devices, permissions, "
             "libraries, run-time compiler,\nvariables. Runs no operator, needs no LibTorch.";
    case subcommand::compare:
      return "assay compare OLD NEW [options]\nassay compare --old FILE.. --new FILE.. "
             "[options]\n\n"
             "Says what changed between two result files (assay run --json), or two folders of\n"
             "them. baseline:NAME is a kept run (assay run --save NAME). Runs nothing.";
    case subcommand::baseline:
      return "assay baseline list\n       assay baseline show NAME\n       assay baseline remove "
             "NAME...\n       assay baseline export NAME FILE\n       assay baseline import FILE "
             "NAME\n\nLooks after the runs that assay run --save NAME keeps. NAME is the newest "
             "run of that name,\nNAME@2 its second; remove NAME removes all of them.";
    case subcommand::history:
      return "assay history [GLOB...] [options]\n\nShows each check's times over the kept runs "
             "(assay run --save), where their level shifted,\nand what changed in the "
             "environment between the runs.";
    case subcommand::report:
      return "assay report FILE [options]\n\nShows a result file (assay run --json) again. Runs "
             "nothing.";
    case subcommand::check_plugin:
      return "assay check-plugin FILE|FOLDER... [options]\n\nLoads plugins and rule files as "
             "assay would, runs their checks on the CPU, asks their\nprobes and classifiers, and "
             "says what is wrong, a line each. For authors before they ship,\nand for users "
             "before they install.";
    case subcommand::new_plugin:
      return "assay new-plugin NAME [options]\n\nWrites a plugin to start from: source, build "
             "files, test, README and CI.";
  }
  return "";
}

constexpr unsigned bit(subcommand command) { return 1U << static_cast<unsigned>(command); }

}  // namespace

const std::vector<option_spec>& option_table() {
  using enum option_form;
  constexpr unsigned run = bit(subcommand::run), lists = bit(subcommand::list),
                     show = bit(subcommand::show), selftest = bit(subcommand::selftest),
                     explain = bit(subcommand::explain), doctor = bit(subcommand::doctor),
                     compare = bit(subcommand::compare), report = bit(subcommand::report),
                     baseline = bit(subcommand::baseline), history = bit(subcommand::history),
                     check_plugin = bit(subcommand::check_plugin);
  // name, argument, form, subcommands, ./assay.ini, help
  static const std::vector<option_spec> table = {
      {"device", "D", text, run | show | selftest, true,
       "auto, cpu, cuda[:N], hip[:N] or all; auto is the first GPU, else the CPU"},
      {"enable", "GLOB", list, run | lists | show | explain | doctor, true,
       "only these checks: a category, category/name or category/name[dtype], or plugin:ID, "
       "vendor:NAME, accelerator:TAG, dtype:T; * ? [..]; repeatable"},
      {"disable", "GLOB", list, run | lists | show | explain | doctor, true,
       "not these, whatever --enable says; a plugin that is off is not opened; repeatable"},
      {"profile", "P", text, run, true,
       "classic: 3 + 20 calls; quick: fewer where 20 take long; measure: until the median is "
       "known"},
      {"dtype", "T", list, run | lists | show | check_plugin, true,
       "float32, float16, bfloat16 or float64 instead of each check's default; repeatable"},
      {"timeout", "S", text, run | selftest | check_plugin, true,
       "seconds a check may take (120; selftest: 10)"},
      {"measure-limit", "S", text, run, true, "profile measure: seconds of sampling per check (2)"},
      {"seed", "N", text, run | show, true, "seed of the inputs (0)"},
      {"repeat-neighbours", "N", text, run, true,
       "checks run again in the fresh worker after a crash or timeout (1; 0: none)"},
      {"plugin-dir", "DIR", path_list, run | lists | show | explain | doctor | check_plugin, false,
       "a further folder with plugins; repeatable"},
      {"trust-plugins", "", flag, run | lists | show | explain | doctor | selftest | check_plugin,
       false, "load plugins even where others may write the file or its folder"},
      {"trace", "FILE", path_list, run | lists | show, false,
       "replay the operator calls of this log, and of the other checks only those asked for by "
       "name; "
       "repeatable"},
      {"plugins-lock", "FILE", path, run | lists | show | explain | doctor, false,
       "open no plugin but those whose SHA-256 this file has"},
      {"write-lock", "FILE", path, lists, false,
       "write such a file: the plugins that there are now"},
      {"set", "PLUGIN.NAME=VALUE", list, run | lists | show | explain | doctor, false,
       "a plugin's option, as assay list shows them; repeatable"},
      {"torch", "DIR", path_list, run | lists | selftest | doctor | check_plugin, false,
       "which LibTorch: its folder, a site-packages folder or a virtual environment; assay run "
       "takes "
       "two, the old and the new one, and compares them"},
      {"json", "FILE", path, run | selftest, false,
       "write the results as JSON Lines; -: standard output"},
      {"full-environment", "", flag, run | selftest, false,
       "keep user, host and home folders in what --json, --junit and --save write"},
      {"junit", "FILE", path, run, false, "write the results as JUnit XML"},
      {"known-issues", "FILE", path_list, run, false,
       "expected failures, which are reported as known; a TOML file; repeatable"},
      {"list-only", "", flag, run, false,
       "print the ids of the checks that would run, and run none"},
      {"no-evidence", "", flag, run, true,
       "only run and time: no chain of evidence, no verdicts, no ceilings"},
      {"refresh-ceilings", "", flag, run, true,
       "measure what the device reaches again, instead of taking it from the cache"},
      {"baseline", "D", text, run, true, "cpu: every check also runs there, for the speed-up"},
      {"sizes", "S", text, run, true,
       "classic, large (fill the device) or auto: large for profile measure on a GPU (auto)"},
      {"split", "", flag, run, true,
       "show where the time of each call goes: dispatch, device, copies, idle"},
      {"trace-libs", "", flag, run, true,
       "run each check once more with the libraries' logs on: which solver or kernel served it"},
      {"chrome-trace", "DIR", path, run, false,
       "write one trace file a check, for chrome://tracing or Perfetto"},
      {"sysroot", "DIR", path, doctor, false,
       "look at the machine whose file system lies below this folder instead of at this one"},
      {"architecture", "A", text, doctor, false,
       "of the GPU in question (gfx1032), where the machine does not tell"},
      {"platform", "P", text, explain, false, "where the log comes from: linux, wsl or windows"},
      {"probe-timeout", "S", text, run | explain | doctor | check_plugin, true,
       "seconds a probe may take (5)"},
      {"probe-prefix", "COMMAND", text, run | explain | doctor, false,
       "start each probe's process through this command (a container's exec, another loader)"},
      {"old", "FILE", path_list, compare, false,
       "a result file, or a folder of them, from before; repeatable"},
      {"new", "FILE", path_list, compare, false, "likewise from after"},
      {"save", "NAME", text, run, false, "keep this run under a name, beside others of that name"},
      {"against", "NAME", text, run, false,
       "compare this run with the newest one kept under that name (NAME@2: the second), and "
       "measure "
       "again what seems slower"},
      {"store", "FILE", path, run | compare | baseline | history, false,
       "where runs are kept (runs.sqlite in the user's data folder)"},
      {"fail-on", "LIST", list, run | compare, false,
       "what counts as a regression: error, fallback, path, correctness, slower=5%, or none "
       "(all)"},
      {"across-devices", "", flag, run | compare, false,
       "compare the times of unlike devices too, divided by the copy bandwidth of each"},
      {"no-color", "", flag,
       run | lists | selftest | explain | doctor | compare | baseline | history | report |
           check_plugin,
       true, "no colour (so does the variable NO_COLOR)"},
      {"config", "FILE", path,
       run | lists | show | explain | doctor | selftest | compare | baseline | history | report |
           check_plugin,
       false, "read options from this INI file"},
  };
  return table;
}

const option_spec* find_option(std::string_view name) {
  const auto& table = option_table();
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const option_spec& spec) { return spec.name == name; });
  return found == table.end() ? nullptr : &*found;
}

bool known_to(const option_spec& spec, subcommand command) {
  return (spec.commands & bit(command)) != 0;
}

const std::vector<own_flag>& own_flags() {
  static const std::vector<own_flag> table = {
      {subcommand::list, "json", "print the catalogue as JSON lines"},
      {subcommand::list, "why", "say of each plugin, category and check which line decided"},
      {subcommand::show, "python", "print a Python program that does the same"},
      {subcommand::show, "toml", "print the check, or all that a glob matches, as a TOML op pack"},
      {subcommand::explain, "json", "print the diagnoses as one JSON object"},
      {subcommand::explain, "catalogue",
       "print every diagnosis there is, as Markdown; with --json as one JSON object"},
      {subcommand::explain, "here", "the log is of this machine: let probes confirm or refute"},
      {subcommand::doctor, "json", "print all answers as one JSON object"},
      {subcommand::report, "text", "as the run printed it (the default)"},
      {subcommand::report, "markdown", "for a bug report: at most 65536 bytes, nothing personal"},
      {subcommand::report, "junit", "as JUnit XML"},
      {subcommand::report, "csv", "one line a check"},
      {subcommand::report, "json", "the records up to the last whole one"},
      {subcommand::compare, "json", "print the comparison as one JSON object"},
      {subcommand::compare, "markdown", "for a merge request or a bug report"},
      {subcommand::compare, "junit", "as JUnit XML: a test for each check and what became of it"},
      {subcommand::baseline, "json", "list: print the kept runs as one JSON object"},
      {subcommand::history, "name", "only the runs kept under this name", "NAME"},
      {subcommand::history, "csv", "one line for each check and run"},
      {subcommand::check_plugin, "json", "print all findings as one JSON object"},
      {subcommand::check_plugin, "strict", "warnings count as errors in the exit status"},
      {subcommand::new_plugin, "kind",
       "ops (checks in C++), toml (checks as data, no compiler) or diagnostic (ops)", "KIND"},
      {subcommand::new_plugin, "dir", "where to write it (./NAME); must not exist, or be empty",
       "DIR"},
      {subcommand::new_plugin, "vendor", "who makes it, for people (your name)", "TEXT"},
  };
  return table;
}

const std::vector<named_subcommand>& subcommands() {
  static const std::vector<named_subcommand> table = {
      {subcommand::run, "run", "run the checks and report"},
      {subcommand::doctor, "doctor", "look at this machine, run no operator"},
      {subcommand::explain, "explain", "say what a log's errors mean and what to do"},
      {subcommand::list, "list", "show the plugins, their checks and the LibTorch engines"},
      {subcommand::show, "show", "show one check, or print it as a Python program"},
      {subcommand::report, "report", "show a result file again, also for a bug report"},
      {subcommand::compare, "compare", "say what changed between two result files"},
      {subcommand::baseline, "baseline", "look after the runs that were kept"},
      {subcommand::history, "history", "show times over all kept runs"},
      {subcommand::selftest, "selftest",
       "plant faults on this device and show that they are found"},
      {subcommand::new_plugin, "new-plugin", "write a plugin to start from"},
      {subcommand::check_plugin, "check-plugin", "examine plugins before they are shipped or used"},
  };
  return table;
}

std::string variable_name(std::string_view option_name) {
  std::string variable = "ASSAY_";
  for (const char c : option_name) {
    // Option names are ASCII: no locale is asked.
    variable += c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  }
  return variable;
}

std::string help_text(subcommand command) {
  namespace po = boost::program_options;
  po::options_description description("Options", 100, 60);
  auto add = description.add_options();
  for (const option_spec& spec : option_table()) {
    if (!known_to(spec, command)) {
      continue;
    }
    const std::string name(spec.name);
    const std::string help(spec.help);
    if (spec.form == option_form::flag) {
      add(name.c_str(), help.c_str());
    } else {
      add(name.c_str(), po::value<std::string>()->value_name(std::string(spec.argument)),
          help.c_str());
    }
  }
  for (const own_flag& flag : own_flags()) {
    if (flag.command != command) {
      continue;
    }
    const std::string name(flag.name);
    const std::string help(flag.help);
    if (flag.argument.empty()) {
      add(name.c_str(), help.c_str());
    } else {
      add(name.c_str(), po::value<std::string>()->value_name(std::string(flag.argument)),
          help.c_str());
    }
  }
  add("help,h", "this text");
  std::ostringstream text;
  text << "Usage: " << usage_of(command) << "\n\n" << description;
  if (command == subcommand::new_plugin) {
    return text.str();  // none of its options stands anywhere else
  }
  text << "\nEvery option is also a variable (ASSAY_DEVICE) and a key of a configuration file "
          "(device = cpu):\ncommand line > environment > --config FILE > ./assay.ini > the user's "
          "assay.ini > built in.\n";
  return text.str();
}

}  // namespace assay
