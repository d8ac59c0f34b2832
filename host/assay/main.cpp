// SPDX-License-Identifier: Apache-2.0
#include <assay/abi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "baseline_command.hpp"
#include "check_plugin_command.hpp"
#include "compare_command.hpp"
#include "doctor_command.hpp"
#include "errors.hpp"
#include "explain_command.hpp"
#include "history_command.hpp"
#include "host/common/nearest.hpp"
#include "host/platform/platform.hpp"
#include "list_command.hpp"
#include "list_why.hpp"
#include "new_plugin_command.hpp"
#include "option_table.hpp"
#include "options.hpp"
#include "report_command.hpp"
#include "report_paper.hpp"
#include "reports.hpp"
#include "rule_files.hpp"
#include "run_keeping.hpp"
#include "schedule.hpp"
#include "selftest_report.hpp"
#include "show_command.hpp"
#include "supervisor.hpp"
#include "torch_locate.hpp"
#include "torch_pair.hpp"

namespace assay {
namespace {

constexpr int stdout_descriptor = 1;
constexpr int stderr_descriptor = 2;

std::string short_help() {
  std::string text = "Usage: assay COMMAND [options]\n\n";
  for (const named_subcommand& command : subcommands()) {
    text += fmt::format("  {:<12} {}\n", command.name, command.summary);
  }
  return text +
         "\nassay COMMAND --help shows a command's options; assay --version shows this version.\n";
}

environment this_environment() {
  environment world{platform::environment_variables(), std::filesystem::current_path(), {}};
  const auto config_dir = platform::user_config_dir();
  if (!config_dir.empty()) {
    world.user_config_file = config_dir / "assay" / "assay.ini";
  }
  return world;
}

int print_version() {
  fmt::print("assay {} (plugin ABI {}.{})\n", ASSAY_VERSION, ASSAY_ABI_MAJOR, ASSAY_ABI_MINOR);
  const installation here = this_installation();
  const auto engines = installed_engines(here.libexec_dir);
  for (const engine_install& engine : engines) {
    fmt::print("engine for LibTorch {}: {}\n", engine.torch_version, engine.library.string());
  }
  if (engines.empty()) {
    fmt::print("no engine in {}; tools/build-engine DIR makes one\n", here.libexec_dir.string());
  }
  return exit_status::ok;
}

std::optional<torch_request> requested_torch(const run_options& options) {
  if (!options.torch_dir) {
    return std::nullopt;
  }
  return torch_request{*options.torch_dir, options.settings.at("torch").origin};
}

/// The engine to run with, or why there is none.
std::pair<std::optional<engine_choice>, std::string> engine_if_any(const run_options& options,
                                                                   const installation& here,
                                                                   const environment& world) {
  try {
    return {choose_engine(requested_torch(options), here.libexec_dir, world.variables), ""};
  } catch (const tool_error& error) {
    return {std::nullopt, error.what()};
  }
}

bool is_dumb(const environment& world) {
  const auto kind = world.variables.find("TERM");
  return kind != world.variables.end() && kind->second == "dumb";
}

/// Where the report for people goes: lines are broken for a terminal alone.
report_paper paper_of_run(const run_options& options, const environment& world) {
  const bool to_stderr = options.json_file && *options.json_file == "-";
  const int descriptor = to_stderr ? stderr_descriptor : stdout_descriptor;
  const bool terminal = platform::is_terminal(descriptor);
  return {to_stderr ? std::cerr : std::cout, terminal && !is_dumb(world) && !options.no_color,
          terminal ? platform::terminal_width(descriptor) : 0};
}

std::vector<std::unique_ptr<record_sink>> make_sinks(const run_options& options,
                                                     const environment& world) {
  std::vector<std::unique_ptr<record_sink>> sinks;
  if (options.list_only) {
    return sinks;
  }
  if (options.json_file) {
    sinks.push_back(for_strangers(make_result_file(*options.json_file), options));
  }
  if (options.junit_file) {
    sinks.push_back(for_strangers(make_junit_report(*options.junit_file), options));
  }
  // The progress line before the table: it must be erased when the table is printed.
  if (platform::is_terminal(stderr_descriptor)) {
    sinks.push_back(make_progress_line(std::cerr, platform::terminal_width(stderr_descriptor)));
  }
  report_paper paper = paper_of_run(options, world);
  sinks.push_back(make_table_report(paper.out(), paper.has_color(), paper.columns()));
  return sinks;
}

/// Asked before anything runs: the traces are written by a worker, much later.
void make_trace_folder(const run_options& options) {
  if (!options.chrome_trace_dir || options.list_only) {
    return;
  }
  const std::filesystem::path& folder = *options.chrome_trace_dir;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const std::filesystem::path trial = folder / ".assay-trial";
  const bool writable = !error && std::ofstream(trial).is_open();
  std::filesystem::remove(trial, error);
  if (!writable) {
    throw usage_error(fmt::format("{}: nothing can be written into {}; name a folder of your own",
                                  options.settings.at("chrome-trace").origin, folder.string()));
  }
}

int run_pair(const installation& here, const run_options& options,
             const std::vector<std::string>& command_line, const environment& world) {
  const std::string& origin = options.settings.at("torch").origin;
  const auto engine_for = [&](const std::filesystem::path& dir) {
    return choose_engine(torch_request{dir, origin}, here.libexec_dir, world.variables);
  };
  report_paper paper = paper_of_run(options, world);
  return run_torch_pair(here, options,
                        {engine_for(*options.torch_dir), engine_for(*options.second_torch_dir)},
                        command_line, paper);
}

int run(const std::vector<std::string>& command_line, const std::vector<std::string>& arguments,
        const environment& world) {
  const run_options options = parse_run_options(arguments, world);
  const installation here = this_installation();
  if (options.second_torch_dir) {
    return run_pair(here, options, command_line, world);
  }
  const auto [engine, no_engine_reason] = engine_if_any(options, here, world);
  make_trace_folder(options);
  std::unique_ptr<run_keeping> keeping;
  if ((!options.save.empty() || !options.against.empty()) && !options.list_only) {
    keeping = std::make_unique<run_keeping>(options);
  }
  const auto sinks = make_sinks(options, world);
  std::vector<record_sink*> borrowed;
  for (const auto& sink : sinks) {
    borrowed.push_back(sink.get());
  }
  if (keeping) {
    borrowed.push_back(&keeping->sink());
  }
  int status = run_checks(here, options, engine, no_engine_reason, command_line, borrowed);
  if (keeping) {
    const auto again = [&, &with = engine,
                        &why = no_engine_reason](const std::vector<std::string>& ids) {
      return run_of_these(here, options, ids, with, why, command_line);
    };
    report_paper paper = paper_of_run(options, world);
    status = keeping->conclude(status, again, paper);
  }
  if (!std::cout.flush() || !std::cerr.flush()) {
    throw tool_error("the report could not be written to the end (disk full, or a closed pipe?)");
  }
  return status;
}

int selftest(const std::vector<std::string>& command_line,
             const std::vector<std::string>& arguments, const environment& world) {
  const run_options options = parse_selftest_options(arguments, world);
  installation here = this_installation();
  here.plugin_dir = here.selftest_dir;
  here.user_plugin_dir.clear();
  const engine_choice engine =
      choose_engine(requested_torch(options), here.libexec_dir, world.variables);
  const bool to_stderr = options.json_file && *options.json_file == "-";
  const bool terminal = platform::is_terminal(to_stderr ? stderr_descriptor : stdout_descriptor);
  const auto report = make_selftest_report(to_stderr ? std::cerr : std::cout,
                                           terminal && !is_dumb(world) && !options.no_color);
  std::vector<record_sink*> sinks;
  std::unique_ptr<record_sink> file;
  if (options.json_file) {
    file = for_strangers(make_result_file(*options.json_file), options);
    sinks.push_back(file.get());
  }
  std::unique_ptr<record_sink> progress;
  if (platform::is_terminal(stderr_descriptor)) {
    progress = make_progress_line(std::cerr, platform::terminal_width(stderr_descriptor));
    sinks.push_back(progress.get());
  }
  sinks.push_back(report.get());
  const int status = run_checks(here, options, engine, "", command_line, sinks);
  if (status == exit_status::interrupted || status == exit_status::tool) {
    return status;
  }
  return report->all_detected() ? exit_status::ok : exit_status::failed;
}

int list(const std::vector<std::string>& arguments, const environment& world) {
  const list_request request = parse_list_options(arguments, world);
  const installation here = this_installation();
  catalogue found = read_catalogue(here, request.options);
  found.rule_files = list_rule_files(here, request.options, found.plugins, std::cerr);
  check_globs(found, request.options);
  if (request.options.write_lock) {
    write_lock(found, *request.options.write_lock);
  }
  const int status = request.json ? list_as_json(found, request.options, std::cout)
                                  : list_command(found, here, request.options, std::cout);
  if (request.why) {
    list_why(found, request.options, request.json, std::cout);
  }
  return status;
}

report_paper paper_on_stdout(const run_options& options, const environment& world, bool plain) {
  const bool terminal = platform::is_terminal(stdout_descriptor);
  return {std::cout, terminal && !plain && !is_dumb(world) && !options.no_color,
          terminal && !plain ? platform::terminal_width(stdout_descriptor)
          : plain            ? 0
                             : 100};
}

int explain_log(const std::vector<std::string>& arguments, const environment& world) {
  const explain_request request = parse_explain_options(arguments, world);
  report_paper paper = paper_on_stdout(request.options, world, request.json);
  return explain(request, this_installation(), std::cin, paper);
}

int doctor(const std::vector<std::string>& arguments, const environment& world) {
  const doctor_request request = parse_doctor_options(arguments, world);
  std::filesystem::path torch_dir;
  std::string no_torch_reason;
  try {
    torch_dir = find_torch(requested_torch(request.options), this_installation().libexec_dir,
                           world.variables)
                    .dir;
  } catch (const tool_error& error) {
    no_torch_reason = error.what();
  }
  report_paper paper = paper_on_stdout(request.options, world, request.json);
  return doctor(request, this_installation(), torch_dir, no_torch_reason, paper);
}

int compare_results(const std::vector<std::string>& arguments, const environment& world) {
  const compare_request request = parse_compare_options(arguments, world);
  report_paper paper = paper_on_stdout(request.options, world, request.form != "text");
  return compare_command(request, paper);
}

int look_after_kept_runs(const std::vector<std::string>& arguments, const environment& world) {
  const baseline_request request = parse_baseline_options(arguments, world);
  report_paper paper = paper_on_stdout(request.options, world, request.json);
  return baseline_command(request, paper);
}

int show_history(const std::vector<std::string>& arguments, const environment& world) {
  const history_request request = parse_history_options(arguments, world);
  report_paper paper = paper_on_stdout(request.options, world, request.csv);
  return history_command(request, paper);
}

int report_results(const std::vector<std::string>& arguments, const environment& world) {
  const report_request request = parse_report_options(arguments, world);
  // As the run itself: lines are broken for a terminal alone.
  const bool plain = request.form != "text" || !platform::is_terminal(stdout_descriptor);
  report_paper paper = paper_on_stdout(request.options, world, plain);
  return report_command(request, paper);
}

int check(const std::vector<std::string>& arguments, const environment& world) {
  const check_plugin_request request = parse_check_plugin_options(arguments, world);
  const installation here = this_installation();
  const auto [engine, no_engine_reason] = engine_if_any(request.options, here, world);
  report_paper paper = paper_on_stdout(request.options, world, request.json);
  return check_plugin(request, here, engine, no_engine_reason, paper);
}

bool asks_for_help(const std::vector<std::string>& arguments) {
  return std::any_of(arguments.begin(), arguments.end(), [](const std::string& argument) {
    return argument == "--help" || argument == "-h";
  });
}

int perform(subcommand command, const std::vector<std::string>& command_line,
            const std::vector<std::string>& arguments, const environment& world) {
  switch (command) {
    case subcommand::run:
      return run(command_line, arguments, world);
    case subcommand::list:
      return list(arguments, world);
    case subcommand::show:
      return show_command(parse_show_options(arguments, world), this_installation(), std::cout);
    case subcommand::selftest:
      return selftest(command_line, arguments, world);
    case subcommand::explain:
      return explain_log(arguments, world);
    case subcommand::doctor:
      return doctor(arguments, world);
    case subcommand::compare:
      return compare_results(arguments, world);
    case subcommand::baseline:
      return look_after_kept_runs(arguments, world);
    case subcommand::history:
      return show_history(arguments, world);
    case subcommand::report:
      return report_results(arguments, world);
    case subcommand::check_plugin:
      return check(arguments, world);
    case subcommand::new_plugin:
      return new_plugin(parse_new_plugin_options(arguments, world), this_installation(), std::cout);
  }
  throw tool_error("a subcommand of the help is not there");
}

int dispatch(const std::vector<std::string>& command_line) {
  if (command_line.size() < 2) {
    std::cerr << short_help();
    return exit_status::usage;
  }
  const std::string& command = command_line[1];
  const std::vector<std::string> arguments(command_line.begin() + 2, command_line.end());
  if (command == "--version") {
    return print_version();
  }
  if (command == "--help" || command == "-h") {
    std::cout << short_help();
    return exit_status::ok;
  }
  std::vector<std::string_view> names;
  for (const named_subcommand& known : subcommands()) {
    if (known.name == command) {
      if (asks_for_help(arguments)) {
        std::cout << help_text(known.command);
        return exit_status::ok;
      }
      return perform(known.command, command_line, arguments, this_environment());
    }
    names.push_back(known.name);
  }
  if (!command.empty() && command.front() == '-') {
    throw usage_error(
        fmt::format("'{}' stands before the command; options come behind it: "
                    "assay run {}",
                    command, command));
  }
  const std::string near = did_you_mean(command, names);
  throw usage_error(fmt::format("unknown command '{}'{}", command,
                                near.empty() ? "; assay --help lists the commands" : near));
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) {
  try {
    const int status = assay::dispatch(std::vector<std::string>(argv, argv + argc));
    if (!std::cout.flush() || std::fflush(stdout) != 0) {
      throw assay::tool_error("standard output could not be written to the end");
    }
    return status;
  } catch (const assay::usage_error& error) {
    std::cerr << "assay: " << error.what() << '\n';
    return assay::exit_status::usage;
  } catch (const assay::tool_error& error) {
    std::cerr << "assay: " << error.what() << '\n';
    return assay::exit_status::tool;
  } catch (const std::exception& error) {
    std::cerr << "assay: internal error: " << error.what() << '\n';
    return assay::exit_status::tool;
  }
}
