// SPDX-License-Identifier: Apache-2.0
#include "option_table.hpp"

#include <algorithm>
#include <array>
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
  }
  return "";
}

}  // namespace

const std::vector<option_spec>& option_table() {
  using enum option_form;
  // name, argument, form, run, list, show, ./assay.ini, help
  static const std::vector<option_spec> table = {
      {"device", "D", text, true, false, true, true,
       "auto, cpu, cuda[:N], hip[:N] or all; auto is the first GPU, else the CPU"},
      {"enable", "GLOB", list, true, true, false, true,
       "only these checks: a category, category/name or category/name[dtype]; * ? [..]; "
       "repeatable"},
      {"disable", "GLOB", list, true, false, false, true, "not these checks; repeatable"},
      {"profile", "P", text, true, false, false, true,
       "classic: 3 + 20 calls; quick: fewer where 20 take long; measure: until the median is "
       "known"},
      {"dtype", "T", list, true, false, true, true,
       "float32, float16, bfloat16 or float64 instead of each check's default; repeatable"},
      {"timeout", "S", text, true, false, false, true, "seconds a check may take (120)"},
      {"measure-limit", "S", text, true, false, false, true,
       "profile measure: seconds of sampling per check (2)"},
      {"seed", "N", text, true, false, true, true, "seed of the inputs (0)"},
      {"repeat-neighbours", "N", text, true, false, false, true,
       "checks run again in the fresh worker after a crash or timeout (1; 0: none)"},
      {"plugin-dir", "DIR", path_list, true, true, true, false,
       "a further folder with plugins; repeatable"},
      {"trust-plugins", "", flag, true, true, true, false,
       "load plugins even where others may write the file or its folder"},
      {"torch", "DIR", path, true, true, false, false,
       "which LibTorch: its folder, a site-packages folder or a virtual environment"},
      {"json", "FILE", path, true, false, false, false,
       "write the results as JSON Lines; -: standard output"},
      {"junit", "FILE", path, true, false, false, false, "write the results as JUnit XML"},
      {"list-only", "", flag, true, false, false, false,
       "print the ids of the checks that would run, and run none"},
      {"no-evidence", "", flag, true, false, false, true,
       "only run and time: no chain of evidence, no verdicts, no ceilings"},
      {"refresh-ceilings", "", flag, true, false, false, true,
       "measure what the device reaches again, instead of taking it from the cache"},
      {"baseline", "D", text, true, false, false, true,
       "cpu: every check also runs there, for the speed-up"},
      {"sizes", "S", text, true, false, false, true,
       "classic, large (fill the device) or auto: large for profile measure on a GPU (auto)"},
      {"split", "", flag, true, false, false, true,
       "show where the time of each call goes: dispatch, device, copies, idle"},
      {"chrome-trace", "DIR", path, true, false, false, false,
       "write one trace file a check, for chrome://tracing or Perfetto"},
      {"no-color", "", flag, true, true, false, true, "no colour (so does the variable NO_COLOR)"},
      {"config", "FILE", path, true, true, true, false, "read options from this INI file"},
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
  switch (command) {
    case subcommand::run:
      return spec.in_run;
    case subcommand::list:
      return spec.in_list;
    case subcommand::show:
      return spec.in_show;
    case subcommand::selftest: {
      static constexpr std::array<std::string_view, 7> names{
          "device", "timeout", "trust-plugins", "torch", "json", "no-color", "config"};
      return std::find(names.begin(), names.end(), spec.name) != names.end();
    }
  }
  return false;
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
  if (command == subcommand::list) {
    add("json", "print the catalogue as JSON lines");
  }
  if (command == subcommand::show) {
    add("python", "print a Python program that does the same");
  }
  add("help,h", "this text");
  std::ostringstream text;
  text << "Usage: " << usage_of(command) << "\n\n"
       << description
       << "\nEvery option is also a variable (ASSAY_DEVICE) and a key of a configuration file "
          "(device = cpu):\ncommand line > environment > --config FILE > ./assay.ini > the user's "
          "assay.ini > built in.\n";
  return text.str();
}

}  // namespace assay
