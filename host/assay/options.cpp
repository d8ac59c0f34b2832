// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <string_view>

#include "errors.hpp"
#include "host/store/run_store.hpp"
#include "make_options.hpp"
#include "option_sources.hpp"
#include "option_table.hpp"
#include "option_values.hpp"
#include "plugin_settings.hpp"
#include "selection.hpp"

namespace assay {
namespace {

namespace fs = std::filesystem;

std::string joined(const std::vector<std::string>& texts) {
  return fmt::format("{}", fmt::join(texts, ","));
}

std::string joined(const std::vector<fs::path>& paths) {
  std::vector<std::string> texts;
  std::transform(paths.begin(), paths.end(), std::back_inserter(texts),
                 [](const fs::path& path) { return path.string(); });
  return joined(texts);
}

std::string path_text(const std::optional<fs::path>& path) { return path ? path->string() : ""; }

const std::vector<std::string>& checked_globs(const given_option& given) {
  for (const std::string& text : given.texts) {
    parse_selector(given.origin, text);
  }
  return given.texts;
}

/// What code may run must not depend on where assay happens to be started.
void must_not_be_relative(const given_option& given, const std::string& path) {
  if (given.source == option_source::environment && !fs::path(path).is_absolute()) {
    throw usage_error(
        fmt::format("{}: '{}' is relative, and a variable is the same everywhere; "
                    "write the whole path, from the root",
                    given.origin, path));
  }
}

void apply(run_options& options, const std::string& name, const given_option& given) {
  const std::string& origin = given.origin;
  const std::string& text = given.texts.front();
  if (name == "device") {
    options.device = parse_device(origin, text);
  } else if (name == "enable") {
    options.enable = checked_globs(given);
  } else if (name == "disable") {
    options.disable = checked_globs(given);
  } else if (name == "profile") {
    options.profile = parse_profile(origin, text);
  } else if (name == "dtype") {
    for (const std::string& dtype : given.texts) {
      const std::string canonical = parse_dtype(origin, dtype);
      if (std::find(options.dtypes.begin(), options.dtypes.end(), canonical) ==
          options.dtypes.end()) {
        options.dtypes.push_back(canonical);
      }
    }
  } else if (name == "timeout") {
    options.timeout_s = parse_seconds(origin, text);
  } else if (name == "measure-limit") {
    options.measure_limit_s = parse_seconds(origin, text);
  } else if (name == "seed") {
    options.seed = parse_whole_number(origin, text, std::numeric_limits<std::uint64_t>::max());
  } else if (name == "repeat-neighbours") {
    options.repeat_neighbours = static_cast<unsigned>(parse_whole_number(origin, text, 1000));
  } else if (name == "plugin-dir") {
    for (const std::string& dir : given.texts) {
      must_not_be_relative(given, dir);
      options.plugin_dirs.push_back(parse_folder(origin, dir, given.base_dir));
    }
  } else if (name == "trust-plugins") {
    options.trust_plugins = parse_flag(origin, text);
  } else if (name == "trace") {
    for (const std::string& file : given.texts) {
      options.traces.push_back(parse_input_file(origin, file, given.base_dir));
    }
  } else if (name == "plugins-lock") {
    must_not_be_relative(given, text);
    options.plugins_lock = parse_input_file(origin, text, given.base_dir);
  } else if (name == "write-lock") {
    options.write_lock = parse_output_file(origin, text, given.base_dir);
  } else if (name == "set") {
    for (const std::string& one : given.texts) {
      add_assignment(options.set, origin, one);
    }
  } else if (name == "torch") {
    for (const std::string& dir : given.texts) {
      must_not_be_relative(given, dir);
    }
    options.torch_dir = parse_folder(origin, text, given.base_dir);
    if (given.texts.size() == 2) {
      options.second_torch_dir = parse_folder(origin, given.texts[1], given.base_dir);
    } else if (given.texts.size() > 2) {
      throw usage_error(fmt::format("{}: {} folders; at most two LibTorch are compared", origin,
                                    given.texts.size()));
    }
  } else if (name == "json") {
    // Opened by its name, the terminal's or pipe's place in what is printed would be lost.
    options.json_file = text == "-" || text == "/dev/stdout"
                            ? fs::path("-")
                            : parse_output_file(origin, text, given.base_dir);
  } else if (name == "junit") {
    if (text == "-") {
      throw usage_error(
          fmt::format("{}: the JUnit report cannot go to standard output; name a file", origin));
    }
    options.junit_file = parse_output_file(origin, text, given.base_dir);
  } else if (name == "known-issues") {
    for (const std::string& file : given.texts) {
      options.known_issues.push_back(parse_input_file(origin, file, given.base_dir));
    }
  } else if (name == "no-evidence") {
    options.evidence = !parse_flag(origin, text);
  } else if (name == "refresh-ceilings") {
    options.refresh_ceilings = parse_flag(origin, text);
  } else if (name == "baseline") {
    options.baseline = parse_baseline(origin, text);
  } else if (name == "sizes") {
    options.sizes = parse_sizes(origin, text);
  } else if (name == "split") {
    options.split = parse_flag(origin, text);
  } else if (name == "trace-libs") {
    options.trace_libs = parse_flag(origin, text);
  } else if (name == "chrome-trace") {
    options.chrome_trace_dir = parse_output_folder(origin, text, given.base_dir);
  } else if (name == "no-color") {
    options.no_color = parse_flag(origin, text);
  } else if (name == "full-environment") {
    options.full_environment = parse_flag(origin, text);
  } else if (name == "list-only") {
    options.list_only = parse_flag(origin, text);
  } else if (name == "sysroot") {
    options.sysroot = parse_folder(origin, text, given.base_dir);
  } else if (name == "architecture") {
    options.architecture = parse_architecture(origin, text);
  } else if (name == "platform") {
    options.platform = parse_platform(origin, text);
  } else if (name == "probe-timeout") {
    options.probe_timeout_s = parse_seconds(origin, text);
  } else if (name == "probe-prefix") {
    options.probe_prefix = parse_command(origin, text);
  } else if (name == "old" || name == "new") {
    auto& files = name == "old" ? options.old_results : options.new_results;
    for (const std::string& file : given.texts) {
      files.push_back(file.starts_with(kept_run_prefix) ? fs::path(file) : given.base_dir / file);
    }
  } else if (name == "fail-on") {
    options.fail_on = given.texts;
  } else if (name == "across-devices") {
    options.across_devices = parse_flag(origin, text);
  } else if (name == "save") {
    options.save = parse_run_name(origin, text);
  } else if (name == "against") {
    options.against = text;
  } else if (name == "store") {
    must_not_be_relative(given, text);
    options.store = given.base_dir / text;
  }
}

std::string text_in_force(const run_options& options, std::string_view name) {
  const auto yes_no = [](bool flag) { return std::string(flag ? "true" : "false"); };
  if (name == "device") return options.device;
  if (name == "enable") return joined(options.enable);
  if (name == "disable") return joined(options.disable);
  if (name == "profile") return options.profile;
  if (name == "dtype") return joined(options.dtypes);
  if (name == "timeout") return fmt::format("{}", options.timeout_s);
  if (name == "measure-limit") return fmt::format("{}", options.measure_limit_s);
  if (name == "seed") return std::to_string(options.seed);
  if (name == "repeat-neighbours") return std::to_string(options.repeat_neighbours);
  if (name == "trust-plugins") return yes_no(options.trust_plugins);
  if (name == "plugins-lock") return path_text(options.plugins_lock);
  if (name == "write-lock") return path_text(options.write_lock);
  if (name == "set") {
    std::vector<std::string> texts;
    for (const auto& one : options.set) {
      texts.push_back(one.text);
    }
    return joined(texts);
  }
  if (name == "torch") {
    return options.second_torch_dir
               ? joined(std::vector<fs::path>{*options.torch_dir, *options.second_torch_dir})
               : path_text(options.torch_dir);
  }
  if (name == "json") return path_text(options.json_file);
  if (name == "junit") return path_text(options.junit_file);
  if (name == "no-evidence") return yes_no(!options.evidence);
  if (name == "refresh-ceilings") return yes_no(options.refresh_ceilings);
  if (name == "baseline") return options.baseline;
  if (name == "sizes") return options.sizes;
  if (name == "split") return yes_no(options.split);
  if (name == "trace-libs") return yes_no(options.trace_libs);
  if (name == "chrome-trace") return path_text(options.chrome_trace_dir);
  if (name == "no-color") return yes_no(options.no_color);
  if (name == "full-environment") return yes_no(options.full_environment);
  if (name == "list-only") return yes_no(options.list_only);
  if (name == "sysroot") return options.sysroot.string();
  if (name == "architecture") return options.architecture;
  if (name == "platform") return options.platform;
  if (name == "probe-timeout") return fmt::format("{}", options.probe_timeout_s);
  if (name == "probe-prefix") return fmt::format("{}", fmt::join(options.probe_prefix, " "));
  if (name == "plugin-dir") return joined(options.plugin_dirs);
  if (name == "known-issues") return joined(options.known_issues);
  if (name == "save") return options.save;
  if (name == "against") return options.against;
  if (name == "store") return options.store.string();
  if (name == "fail-on") return joined(options.fail_on);
  if (name == "across-devices") return yes_no(options.across_devices);
  if (name == "trace") return joined(options.traces);
  return "";
}

// With --trace its checks are enabled, and no other, unless --enable says so. Where that names
// checks of traces, it chooses among them. The glob names plugins, so that packs whose checks
// cannot run are not opened.
void enable_traces(run_options& options) {
  constexpr std::string_view all_traces = "plugin:trace.*";
  const auto chooses = [](const std::string& glob) {
    return glob.starts_with("trace") || glob.starts_with("plugin:trace");
  };
  if (options.traces.empty() ||
      std::any_of(options.enable.begin(), options.enable.end(), chooses)) {
    return;
  }
  options.enable.emplace_back(all_traces);
  run_options::setting& setting = options.settings["enable"];
  setting.value = joined(options.enable);
  if (setting.origin.empty()) {
    setting.source = options.settings.at("trace").source;
    setting.origin = options.settings.at("trace").origin;
  }
}

// Two LibTorch make two runs, which are compared: what speaks of one run has no place there.
void refuse_second_torch(const run_options& options, subcommand command) {
  if (!options.second_torch_dir) {
    return;
  }
  const std::string& origin = options.settings.at("torch").origin;
  if (command != subcommand::run) {
    throw usage_error(fmt::format("{}: two folders; only assay run compares two LibTorch", origin));
  }
  std::error_code error;
  if (fs::equivalent(*options.torch_dir, *options.second_torch_dir, error)) {
    throw usage_error(fmt::format("{}: both folders are {}; name the old and the new LibTorch",
                                  origin, options.torch_dir->string()));
  }
  for (const auto& [given, name] :
       {std::pair(!options.save.empty(), "save"), std::pair(!options.against.empty(), "against"),
        std::pair(options.junit_file.has_value(), "junit"),
        std::pair(options.list_only, "list-only"),
        std::pair(options.chrome_trace_dir.has_value(), "chrome-trace"),
        std::pair(options.json_file == fs::path("-"), "json")}) {
    if (given) {
      throw usage_error(
          fmt::format("{} is of one run, and two --torch make two{}; leave one out",
                      options.settings.at(name).origin,
                      std::string_view(name) == "json" ? " (name a file: it becomes two)" : ""));
    }
  }
}

}  // namespace

run_options make_options(const option_layer& layer, subcommand command) {
  run_options options;
  options.store = default_store_file();
  for (const option_spec& spec : option_table()) {
    if (!known_to(spec, command)) {
      continue;  // another subcommand's: its value is not even looked at
    }
    const std::string name(spec.name);
    run_options::setting& setting = options.settings[name];
    const auto found = layer.find(name);
    if (found != layer.end()) {
      apply(options, name, found->second);
      setting.source = found->second.source;
      setting.origin = found->second.origin;
    }
    setting.value = name == "config" && found != layer.end() ? found->second.texts.front()
                                                             : text_in_force(options, name);
  }
  if (options.json_file && options.json_file == options.junit_file) {
    throw usage_error(fmt::format("--json and --junit both name {}; name two files",
                                  options.json_file->string()));
  }
  enable_traces(options);
  refuse_second_torch(options, command);
  for (const auto& [wanted, name] :
       {std::pair(options.split, "split"), std::pair(!options.baseline.empty(), "baseline"),
        std::pair(options.refresh_ceilings, "refresh-ceilings"),
        std::pair(options.chrome_trace_dir.has_value(), "chrome-trace")}) {
    if (wanted && !options.evidence) {
      throw usage_error(
          fmt::format("{} needs the evidence that {} leaves out; take one of them out",
                      options.settings.at(name).origin, options.settings.at("no-evidence").origin));
    }
  }
  return options;
}

namespace {

void refuse_words(const std::vector<std::string>& words, const char* command) {
  if (!words.empty()) {
    throw usage_error(fmt::format("'{}' is not an option; to choose checks: assay {} --enable {}",
                                  words.front(), command, words.front()));
  }
}

}  // namespace

run_options parse_run_options(const std::vector<std::string>& arguments, const environment& world) {
  const given_arguments given = read_arguments(arguments, subcommand::run, world);
  refuse_words(given.words, "run");
  return make_options(read_all_sources(given.options, world), subcommand::run);
}

run_options parse_selftest_options(const std::vector<std::string>& arguments,
                                   const environment& world) {
  constexpr double timeout_s = 10.0;
  const given_arguments given = read_arguments(arguments, subcommand::selftest, world);
  refuse_words(given.words, "selftest");
  run_options options = make_options(read_all_sources(given.options, world), subcommand::selftest);
  if (options.settings.at("timeout").source == option_source::built_in) {
    options.timeout_s = timeout_s;  // one fault is there to run into it
    options.settings["timeout"].value = text_in_force(options, "timeout");
  }
  options.repeat_neighbours = 0;
  return options;
}

list_request parse_list_options(const std::vector<std::string>& arguments,
                                const environment& world) {
  const given_arguments given = read_arguments(arguments, subcommand::list, world);
  refuse_words(given.words, "list");
  return {make_options(read_all_sources(given.options, world), subcommand::list), given.has("json"),
          given.has("why")};
}

show_request parse_show_options(const std::vector<std::string>& arguments,
                                const environment& world) {
  const given_arguments given = read_arguments(arguments, subcommand::show, world);
  if (given.words.empty()) {
    throw usage_error("assay show needs a check: assay show CHECK (assay list names them)");
  }
  if (given.words.size() > 1) {
    throw usage_error(fmt::format("assay show takes one check, not '{}' and '{}'; call it twice",
                                  given.words[0], given.words[1]));
  }
  show_request request;
  request.options = make_options(read_all_sources(given.options, world), subcommand::show);
  request.check = given.words.front();
  request.python = given.has("python");
  request.toml = given.has("toml");
  if (request.python && request.toml) {
    throw usage_error("--python and --toml are two forms of one check; leave one of them out");
  }
  if (request.check.empty()) {
    throw usage_error("the check's name is empty; assay list names the checks");
  }
  return request;
}

explain_request parse_explain_options(const std::vector<std::string>& arguments,
                                      const environment& world) {
  const given_arguments given = read_arguments(arguments, subcommand::explain, world);
  if (given.words.size() > 1) {
    throw usage_error(fmt::format("assay explain takes one log, not '{}' and '{}'; call it twice",
                                  given.words[0], given.words[1]));
  }
  explain_request request;
  request.options = make_options(read_all_sources(given.options, world), subcommand::explain);
  request.file = given.words.empty() ? "-" : given.words.front();
  request.json = given.has("json");
  request.here = given.has("here");
  request.catalogue = given.has("catalogue");
  const auto refuse = [](const std::string& what, const char* why) {
    throw usage_error(fmt::format("{} {}; leave one of them out", what, why));
  };
  if (request.catalogue && !given.words.empty()) {
    refuse(fmt::format("--catalogue and '{}'", given.words.front()),
           "do not go together: the catalogue is printed whole, whatever a log says");
  }
  if (request.catalogue && request.here) {
    refuse("--catalogue and --here", "do not go together: the catalogue is of no machine");
  }
  if (!request.here && given.options.contains("probe-prefix")) {
    throw usage_error("--probe-prefix needs --here: without it no probe is asked");
  }
  return request;
}

doctor_request parse_doctor_options(const std::vector<std::string>& arguments,
                                    const environment& world) {
  const given_arguments given = read_arguments(arguments, subcommand::doctor, world);
  if (!given.words.empty()) {
    throw usage_error(
        fmt::format("'{}' is not an option; assay doctor --help lists them", given.words.front()));
  }
  return {make_options(read_all_sources(given.options, world), subcommand::doctor),
          given.has("json")};
}

check_plugin_request parse_check_plugin_options(const std::vector<std::string>& arguments,
                                                const environment& world) {
  const given_arguments given = read_arguments(arguments, subcommand::check_plugin, world);
  if (given.words.empty()) {
    throw usage_error(
        "assay check-plugin needs a plugin: assay check-plugin FILE (or a folder that holds some)");
  }
  check_plugin_request request;
  request.options = make_options(read_all_sources(given.options, world), subcommand::check_plugin);
  for (const std::string& word : given.words) {
    request.places.push_back(world.current_dir / word);
  }
  request.strict = given.has("strict");
  request.json = given.has("json");
  return request;
}

new_plugin_request parse_new_plugin_options(const std::vector<std::string>& arguments,
                                            const environment& world) {
  const given_arguments given = read_arguments(arguments, subcommand::new_plugin, world);
  if (given.words.size() != 1) {
    throw usage_error(given.words.empty()
                          ? std::string("assay new-plugin needs a name: assay new-plugin NAME")
                          : fmt::format("assay new-plugin takes one name, not '{}' and '{}'; call "
                                        "it twice",
                                        given.words[0], given.words[1]));
  }
  new_plugin_request request;
  request.name = given.words.front();
  const auto text = [&](const char* option, const std::string& otherwise) {
    const auto found = given.options.find(option);
    return found == given.options.end() ? otherwise : found->second.texts.front();
  };
  request.kind = text("kind", "ops");
  request.dir = world.current_dir / text("dir", request.name);
  request.vendor = text("vendor", "");
  return request;
}

}  // namespace assay
