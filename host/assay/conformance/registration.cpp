// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "examine.hpp"
#include "host/assay/collected_run.hpp"
#include "host/assay/worker_pool.hpp"

namespace assay::conformance {

namespace {

using nlohmann::json;
namespace fs = std::filesystem;

struct one_load {
  json plugin;
  std::vector<json> checks;
  json extra_threads;
  std::string printed;
};

one_load load(const fs::path& file, const installation& here, const run_options& options) {
  run_options alone = options;
  alone.plugin_dirs = {file};
  const std::optional<engine_choice> no_engine;
  worker_pool pool(here, alone, no_engine);
  const auto worker = pool.start();
  one_load loaded;
  if (!pool.found().plugins.empty()) {
    loaded.plugin = pool.found().plugins.front();
  }
  loaded.checks = pool.found().checks;
  loaded.extra_threads = pool.extra_threads();
  if (worker) {
    const auto all = worker->output_so_far();
    loaded.printed = worker->stdout_between({}, all) + worker->stderr_between({}, all);
    worker->quit();
  }
  return loaded;
}

/// Where two records differ first: "/inputs/0/sizes/1 is 8, then 16"; "" where they do not.
std::string difference(const json& a, const json& b) {
  const json steps = json::diff(a, b);
  if (steps.empty()) {
    return "";
  }
  const auto path = steps.front().at("path").get<std::string>();
  const json::json_pointer at(path);
  const auto value = [&](const json& of) {
    return of.contains(at) ? first_words(of.at(at).dump()) : std::string("absent");
  };
  return fmt::format("{} is {}, then {}", path, value(a), value(b));
}

std::string first_difference(const one_load& a, const one_load& b) {
  if (const std::string found = difference(a.plugin, b.plugin); !found.empty()) {
    return "of its registration " + found;
  }
  for (std::size_t i = 0; i < std::min(a.checks.size(), b.checks.size()); ++i) {
    if (const std::string found = difference(a.checks[i], b.checks[i]); !found.empty()) {
      return fmt::format("of {} {}", text_of(a.checks[i], "check"), found);
    }
  }
  return a.checks.size() == b.checks.size()
             ? ""
             : fmt::format("it has {} checks, then {}", a.checks.size(), b.checks.size());
}

std::string counted(std::size_t count, const char* one, const char* several) {
  return count == 0 ? "" : fmt::format(", {} {}", count, count == 1 ? one : several);
}

std::string facts_of(const one_load& loaded) {
  const json& p = loaded.plugin;
  const std::string abi = text_of(p, "abi");  // of a shared library alone
  return fmt::format("{} {}, {}{}, for {}{}{}{}", text_of(p, "id"), text_of(p, "version"),
                     text_of(p, "vendor"), abi.empty() ? "" : ", plugin ABI " + abi,
                     text_of(p, "accelerator"), counted(loaded.checks.size(), "check", "checks"),
                     counted(list_of(p, "probes").size(), "probe", "probes"),
                     counted(list_of(p, "classifiers").size(), "classifier", "classifiers"));
}

void look_at_stamp(examined_file& one) {
  for (const char* member : {"version", "vendor"}) {
    if (text_of(one.plugin, member).empty()) {
      one.add(level::warning, "stamp", "", fmt::format("its stamp has no {}", member),
              "assay list and every result file name it", "give ASSAY_PLUGIN() one");
    }
  }
  if (const std::string who = text_of(one.plugin, "trusted_in_spite_of"); !who.empty()) {
    one.add(level::warning, "trusted", "", who,
            "it was loaded because of --trust-plugins alone; without that it is refused",
            "take the right to write it away (chmod, chown)");
  }
}

}  // namespace

installation without_plugins(const installation& here) {
  installation bare = here;
  bare.plugin_dir.clear();
  bare.user_plugin_dir.clear();
  return bare;
}

void examine_registration(examined_file& one, const installation& here,
                          const run_options& options) {
  const installation bare = without_plugins(here);
  const one_load first = load(one.file, bare, options);
  one.plugin = first.plugin;
  one.id = text_of(first.plugin, "id");
  if (!one.loaded()) {
    std::string reason = text_of(first.plugin, "reason");
    one.add(level::error, "refused", "",
            "assay refuses it: " + (reason.empty() ? "it is no plugin" : printable(reason)),
            "nothing of it is ever used", "mend that and check it again");
    return;
  }
  one.checks = first.checks;
  one.facts = facts_of(first) + (one.facts.empty() ? "" : "; " + one.facts);
  look_at_stamp(one);
  const one_load second = load(one.file, bare, options);
  if (const std::string found = first_difference(first, second); !found.empty()) {
    one.add(level::error, "not-repeatable", "",
            "it registered something else when it was loaded again: " + printable(found),
            "a result could not be compared with another run's, and a check could vanish from one "
            "worker to the next",
            "register constants: no time, no random number, no address, nothing that the machine "
            "tells");
  }
  if (!first.printed.empty()) {
    one.add(level::warning, "prints", "",
            fmt::format("it prints while it is loaded: '{}'", first_words(first.printed)),
            "a library in a user's process is silent; what it prints stands in every report",
            "take the output out, also from initialisers of global objects");
  }
  if (first.extra_threads.is_number() && first.extra_threads > 0) {
    one.add(level::error, "thread-left", "",
            fmt::format("{} thread{} of its own run{} when it has registered",
                        first.extra_threads.dump(), first.extra_threads == 1 ? "" : "s",
                        first.extra_threads == 1 ? "s" : ""),
            "it takes part in everything that is timed, and a crash of it is charged to whatever "
            "check runs then",
            "start no thread while registering");
  }
}

}  // namespace assay::conformance
