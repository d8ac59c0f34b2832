// SPDX-License-Identifier: Apache-2.0
#include "option_sources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <fstream>
#include <istream>
#include <string_view>
#include <system_error>

#include "errors.hpp"
#include "host/common/nearest.hpp"

namespace assay {
namespace {

namespace fs = std::filesystem;
namespace po = boost::program_options;

constexpr std::string_view variable_prefix = "ASSAY_";

#ifdef _WIN32
constexpr char path_separator = ';';
#else
constexpr char path_separator = ':';
#endif

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  const auto last = text.find_last_not_of(" \t\r\n");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    std::string part = trimmed(text.substr(begin, end - begin));
    if (!part.empty()) {
      parts.push_back(std::move(part));
    }
    begin = end + 1;
  }
  return parts;
}

bool repeatable(const option_spec& spec) {
  return spec.form == option_form::list || spec.form == option_form::path_list;
}

void check_texts(const option_spec& spec, const given_option& given) {
  if (given.texts.size() > 1 && !repeatable(spec)) {
    throw usage_error(fmt::format("{} is given twice ('{}' and '{}'); give it once", given.origin,
                                  given.texts[0], given.texts[1]));
  }
  for (const std::string& text : given.texts) {
    if (text.empty()) {
      throw usage_error(fmt::format("{} is empty; give it a value or leave it out", given.origin));
    }
  }
}

std::string command_name(subcommand command) {
  const auto& table = subcommands();
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const auto& named) { return named.command == command; });
  return found == table.end() ? "assay" : "assay " + std::string(found->name);
}

const own_flag* find_own(subcommand command, const std::string& name) {
  const auto& table = own_flags();
  const auto found = std::find_if(table.begin(), table.end(), [&](const own_flag& flag) {
    return flag.command == command && flag.name == name;
  });
  return found == table.end() ? nullptr : &*found;
}

po::options_description command_line_description(subcommand command) {
  po::options_description description;
  auto add = description.add_options();
  for (const option_spec& spec : option_table()) {
    if (!known_to(spec, command)) {
      continue;
    }
    // A flag takes a value only behind '=': --trust-plugins=no undoes a configuration's yes.
    auto* value = po::value<std::string>();
    if (spec.form == option_form::flag) {
      value->implicit_value("true");
    }
    add(std::string(spec.name).c_str(), value);
  }
  for (const own_flag& flag : own_flags()) {
    if (flag.command != command) {
      continue;
    }
    if (flag.argument.empty()) {
      add(std::string(flag.name).c_str(), "");
    } else {
      add(std::string(flag.name).c_str(), po::value<std::string>());
    }
  }
  return description;
}

std::string bare_name(std::string option) {
  option.erase(0, std::min(option.find_first_not_of('-'), option.size()));
  return option.substr(0, option.find('='));
}

usage_error unknown_option(const std::string& option, subcommand command,
                           const po::options_description& description) {
  const std::string name = bare_name(option);
  const std::string in = command_name(command);
  if (find_option(name) != nullptr && name != "json") {
    return usage_error(
        fmt::format("{} has no option --{}, another subcommand has; {} --help "
                    "lists those that it has",
                    in, name, in));
  }
  std::vector<std::string> names = {"help"};
  for (const auto& known : description.options()) {
    names.push_back(known->long_name());
  }
  const std::string near = nearest(name, names);
  return usage_error(near.empty()
                         ? fmt::format("unknown option {}; {} --help lists the options", option, in)
                         : fmt::format("unknown option {}; did you mean '--{}'?", option, near));
}

usage_error missing_value(const std::string& option) {
  const std::string name = bare_name(option);
  const option_spec* spec = find_option(name);
  return usage_error(fmt::format("--{} needs a value: --{} {}", name, name,
                                 spec == nullptr ? "VALUE" : std::string(spec->argument)));
}

po::parsed_options parse_arguments(const std::vector<std::string>& arguments, subcommand command,
                                   const po::options_description& description) {
  using namespace po::command_line_style;
  try {
    return po::command_line_parser(arguments)
        .options(description)
        .style(unix_style & ~allow_guessing)
        .run();
  } catch (const po::unknown_option& error) {
    throw unknown_option(error.get_option_name(), command, description);
  } catch (const po::invalid_command_line_syntax& error) {
    if (error.kind() == po::invalid_syntax::extra_parameter) {
      throw usage_error(fmt::format("--{} takes no value", bare_name(error.get_option_name())));
    }
    throw missing_value(error.get_option_name());
  } catch (const po::error& error) {
    throw usage_error(
        fmt::format("{}; {} --help lists the options", error.what(), command_name(command)));
  }
}

option_layer read_environment(const environment& world) {
  option_layer layer;
  for (const auto& [variable, text] : world.variables) {
    if (std::string_view(variable).substr(0, variable_prefix.size()) != variable_prefix) {
      continue;
    }
    const option_spec* spec = nullptr;
    std::vector<std::string> names;
    for (const option_spec& known : option_table()) {
      const std::string name = variable_name(known.name);
      names.push_back(name.substr(variable_prefix.size()));
      spec = name == variable ? &known : spec;
    }
    if (spec == nullptr) {
      const std::string near = nearest(variable.substr(variable_prefix.size()), names);
      throw usage_error(
          fmt::format("unknown environment variable {}; {}", variable,
                      near.empty() ? "unset it, or see docs/options.md for those that there are"
                                   : fmt::format("did you mean '{}{}'?", variable_prefix, near)));
    }
    given_option given{{text}, option_source::environment, variable, world.current_dir};
    if (spec->form == option_form::list) {
      given.texts = split(text, ',');
    } else if (spec->form == option_form::path_list) {
      given.texts = split(text, path_separator);
    }
    // An empty variable is as good as none, by the custom of NO_COLOR and of shells.
    if (!given.texts.empty() && !trimmed(text).empty()) {
      layer.emplace(spec->name, std::move(given));
    }
  }
  const auto no_color = world.variables.find("NO_COLOR");
  if (no_color != world.variables.end() && !no_color->second.empty()) {
    layer.emplace("no-color", given_option{{"true"}, option_source::environment, "NO_COLOR", {}});
  }
  return layer;
}

usage_error unknown_key(const std::string& file, const std::string& key) {
  const auto dot = key.rfind('.');
  if (dot != std::string::npos && find_option(key.substr(dot + 1)) != nullptr) {
    return usage_error(
        fmt::format("{}: the key '{}' stands in a section [{}]; sections have no "
                    "meaning here, take the [{}] line out",
                    file, key.substr(dot + 1), key.substr(0, dot), key.substr(0, dot)));
  }
  std::vector<std::string_view> names;
  for (const option_spec& spec : option_table()) {
    names.push_back(spec.name);
  }
  std::string near = did_you_mean(key, names);
  return usage_error(fmt::format("{}: unknown key '{}'{}", file, key,
                                 near.empty() ? "; docs/options.md lists the keys" : near));
}

usage_error not_for_project(const std::string& file, const option_spec& spec,
                            const environment& world) {
  std::string allowed;
  for (const option_spec& known : option_table()) {
    if (known.project_may_set) {
      allowed += (allowed.empty() ? "" : ", ") + std::string(known.name);
    }
  }
  return usage_error(fmt::format(
      "{}: '{}' may not stand in a folder's own assay.ini, which may hold only {}; use --{}, {}, "
      "a file named by --config{}",
      file, spec.name, allowed, spec.name, variable_name(spec.name),
      world.user_config_file.empty() ? "" : " or " + world.user_config_file.string()));
}

option_layer read_file(const fs::path& path, option_source source, const environment& world) {
  const std::string file = path.string();
  std::error_code error;
  std::ifstream stream(path);
  if (fs::is_directory(path, error) || !stream) {
    throw usage_error(fmt::format(
        "the configuration file {} cannot be read; {}", file,
        fs::exists(path, error) ? "it must be a file that you may read" : "there is no such file"));
  }
  if (stream.peek() == 0xEF) {  // the byte order mark that some Windows editors write
    stream.ignore(3);
  }
  po::options_description description;
  for (const option_spec& spec : option_table()) {
    description.add_options()(std::string(spec.name).c_str(), po::value<std::string>());
  }
  po::parsed_options parsed(&description);
  try {
    parsed = po::parse_config_file(stream, description, /*allow_unregistered=*/true);
  } catch (const po::invalid_syntax& syntax) {
    throw usage_error(
        fmt::format("{}: cannot read the line '{}'; write key = value", file, syntax.tokens()));
  } catch (const po::error& other) {
    throw usage_error(fmt::format("{}: {}", file, other.what()));
  }
  option_layer layer;
  for (const po::option& option : parsed.options) {
    const option_spec* spec = find_option(option.string_key);
    if (spec == nullptr) {
      throw unknown_key(file, option.string_key);
    }
    if (spec->name == "config") {
      throw usage_error(
          fmt::format("{}: a configuration file cannot name another one ('config'); "
                      "use --config or ASSAY_CONFIG",
                      file));
    }
    if (source == option_source::project_config && !spec->project_may_set) {
      throw not_for_project(file, *spec, world);
    }
    given_option& given = layer[option.string_key];
    given.source = source;
    given.origin = file + ": " + option.string_key;
    given.base_dir = path.parent_path();
    for (const std::string& text : option.value) {
      if (spec->form == option_form::list && !trimmed(text).empty()) {
        const auto parts = split(text, ',');
        given.texts.insert(given.texts.end(), parts.begin(), parts.end());
      } else {
        given.texts.push_back(trimmed(text));
      }
    }
    check_texts(*spec, given);
  }
  return layer;
}

}  // namespace

bool given_arguments::has(std::string_view flag) const {
  return std::find(flags.begin(), flags.end(), flag) != flags.end();
}

given_arguments read_arguments(const std::vector<std::string>& arguments, subcommand command,
                               const environment& world) {
  const po::options_description description = command_line_description(command);
  given_arguments result;
  for (const po::option& option : parse_arguments(arguments, command, description).options) {
    const std::string& name = option.string_key;
    if (name.empty()) {
      result.words.insert(result.words.end(), option.value.begin(), option.value.end());
    } else if (const own_flag* own = find_own(command, name);
               own != nullptr && own->argument.empty()) {
      result.flags.push_back(name);
    } else {
      // Program_options takes any next word for the value; --enable --json is a forgotten value.
      if (option.original_tokens.size() > 1 && option.original_tokens[1].rfind("--", 0) == 0) {
        throw missing_value(name);
      }
      given_option& given = result.options[name];
      given.source = option_source::command_line;
      given.origin = "--" + name;
      given.base_dir = world.current_dir;
      // An implicit value is not filled in before po::store, which is not used here.
      const std::string text = option.value.empty() ? "true" : option.value.front();
      // No dtype has a comma in its name; globs and folders may.
      const bool words = name == "dtype" || name == "fail-on";
      auto parts = words ? split(text, ',') : std::vector{text};
      if (parts.empty()) {
        parts.push_back(text);
      }
      given.texts.insert(given.texts.end(), parts.begin(), parts.end());
      check_texts(own == nullptr ? *find_option(name)
                                 : option_spec{own->name, own->argument, option_form::text, 0,
                                               false, own->help},
                  given);
    }
  }
  return result;
}

option_layer read_all_sources(const option_layer& arguments, const environment& world) {
  option_layer merged = arguments;
  // insert() keeps what is there: the higher source.
  const auto add_below = [&merged](const option_layer& layer) {
    merged.insert(layer.begin(), layer.end());
  };
  add_below(read_environment(world));

  std::error_code error;
  fs::path named;
  const auto config = merged.find("config");
  if (config != merged.end()) {
    named = (config->second.base_dir / config->second.texts.front()).lexically_normal();
    add_below(read_file(named, option_source::config_file, world));
  }
  // A file that the user named, or that is the user's own, is not a stranger's because assay
  // happens to be started beside it.
  const auto same_file = [&error](const fs::path& a, const fs::path& b) {
    return !a.empty() && !b.empty() && fs::equivalent(a, b, error);
  };
  const fs::path project = world.current_dir / "assay.ini";
  const fs::path& user = world.user_config_file;
  if (fs::exists(project, error) && !fs::is_directory(project, error) &&
      !same_file(project, named) && !same_file(project, user)) {
    if (!fs::is_regular_file(project, error)) {
      throw usage_error(project.string() + " is no ordinary file, so it is not read; take it away");
    }
    add_below(read_file(project, option_source::project_config, world));
  }
  if (!user.empty() && fs::exists(user, error) && !same_file(user, named)) {
    add_below(read_file(user, option_source::user_config, world));
  }
  return merged;
}

}  // namespace assay
