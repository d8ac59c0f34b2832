// SPDX-License-Identifier: Apache-2.0
#include "supervisor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/dll/runtime_symbol_info.hpp>
#include <iostream>
#include <map>
#include <set>

#include "collected_run.hpp"
#include "errors.hpp"
#include "host/common/utc_time.hpp"
#include "host/diagnosis/knowledge.hpp"
#include "known_issues.hpp"
#include "model_share.hpp"
#include "plugin_settings.hpp"
#include "run_diagnosis.hpp"
#include "run_loop.hpp"
#include "schedule.hpp"
#include "worker_pool.hpp"

namespace assay {

namespace {

using nlohmann::json;

const char* source_name(option_source source) {
  switch (source) {
    case option_source::command_line:
      return "command line";
    case option_source::environment:
      return "environment";
    case option_source::config_file:
      return "--config";
    case option_source::project_config:
      return "./assay.ini";
    case option_source::user_config:
      return "user configuration";
    case option_source::built_in:
      break;
  }
  return "built in";
}

json run_record(const run_options& options, const std::optional<engine_choice>& engine,
                const std::vector<std::string>& command_line) {
  json settings = json::object();
  for (const auto& [name, setting] : options.settings) {
    settings[name] = {{"value", setting.value}, {"source", source_name(setting.source)}};
  }
  return {{"record", "run"},
          {"schema_version", 1},
          {"assay_version", ASSAY_VERSION},
          {"started", utc_now()},
          {"command_line", command_line},
          {"options", std::move(settings)},
          {"torch_dir", engine ? json(engine->torch.dir.string()) : json()},
          {"torch_found_by", engine ? json(engine->torch.found_by) : json()},
          {"device_asked", options.device},
          {"seed", options.seed},
          {"profile", options.profile}};
}

json schedule_record(const schedule& plan) {
  json checks = json::array();
  for (const planned_check& check : plan.checks) {
    json& added = checks.emplace_back(json{{"id", check.id()}, {"device", check.device}});
    if (check.baseline) {
      added["baseline"] = true;
    }
    if (!check.unmet.empty()) {
      added["unmet"] = check.unmet;
    }
  }
  json not_selected = json::array();
  for (const left_out_check& check : plan.not_selected) {
    not_selected.push_back({{"id", check.id}, {"reason", check.reason}});
  }
  return {{"record", "schedule"},
          {"checks", std::move(checks)},
          {"not_selected", std::move(not_selected)}};
}

json failed_engine(const std::string& reason) {
  return {
      {"record", "engine"}, {"status", "failed"},  {"reason", reason},   {"torch_version", ""},
      {"build", ""},        {"backend_error", ""}, {"load_ms", nullptr}, {"devices", json::array()},
      {"stderr", ""}};
}

/// What a run would tell in its report.
bool mention_refused(const catalogue& found) {
  bool any = false;
  for (const json& plugin : found.plugins) {
    if (text_of(plugin, "status") == "refused") {
      std::cerr << fmt::format("assay: {} is refused: {}\n", printable(text_of(plugin, "file")),
                               printable(text_of(plugin, "reason")));
      any = true;
    }
  }
  return any;
}

int list_ids(const schedule& plan, const catalogue& found) {
  std::set<std::string> seen;
  for (const planned_check& check : plan.checks) {
    if (seen.insert(check.id()).second) {
      std::cout << check.id() << "\n";
    }
  }
  std::cout.flush();
  const auto count = std::count_if(plan.checks.begin(), plan.checks.end(),
                                   [](const auto& check) { return check.requires_something; });
  if (count > 0) {
    std::cerr << fmt::format(
        "assay: {} of these require something of the device or of LibTorch; whether it is there is "
        "judged when they run, and assay show names it\n",
        count);
  }
  return mention_refused(found) ? exit_status::tool
         : plan.checks.empty()  ? exit_status::nothing_ran
                                : exit_status::ok;
}

void mention_what_has_no_effect(const worker_pool& pool, const run_options& options) {
  std::vector<std::string> lines = check_settings(pool.found().plugins, options);
  const auto missing = pool.survey().missing();
  lines.insert(lines.end(), missing.begin(), missing.end());
  for (const std::string& line : lines) {
    std::cerr << "assay: " << line << '\n';
  }
}

// A folder that holds no plugin is most likely not the one that was meant.
void mention_empty_folders(const run_options& options, const catalogue& found) {
  namespace fs = std::filesystem;
  const auto setting = options.settings.find("plugin-dir");
  for (const fs::path& dir : options.plugin_dirs) {
    const bool any = std::any_of(found.plugins.begin(), found.plugins.end(), [&](const json& one) {
      const fs::path file = one.at("file").get<std::string>();
      std::error_code error;
      return one.at("status") != "not_a_plugin" && fs::equivalent(file.parent_path(), dir, error);
    });
    if (!any && !has_rule_file(dir)) {
      std::cerr << fmt::format(
          "assay: {}: no plugin lies in {}; a plugin's name ends in .assay.so, that of a rule file "
          "in .assay.toml\n",
          setting == options.settings.end() || setting->second.origin.empty()
              ? "--plugin-dir"
              : setting->second.origin,
          dir.string());
    }
  }
}

}  // namespace

installation this_installation() {
  namespace fs = std::filesystem;
  // The program may have been started through a link.
  std::error_code error;
  const fs::path place = boost::dll::program_location().string();
  const fs::path real = fs::canonical(place, error);
  const fs::path root = (error ? place : real).parent_path().parent_path();
#if defined(_WIN32)
  const char* worker = "assay-worker.exe";
#else
  const char* worker = "assay-worker";
#endif
  const fs::path libexec = root / "libexec" / "assay";
  const fs::path data = platform::user_data_dir();
  return {libexec / worker,
          libexec,
          root / "lib" / "assay" / "plugins",
          root / "lib" / "assay" / "selftest",
          data.is_absolute() ? data / "assay" / "plugins" : fs::path(),
          root / "share" / "assay" / "templates"};
}

catalogue read_catalogue(const installation& here, const run_options& options) {
  platform::catch_interrupts();
  const std::optional<engine_choice> no_engine;
  worker_pool pool(here, options, no_engine);
  const auto worker = pool.start();
  if (!worker) {
    throw tool_error(pool.engine_record().at("reason").get<std::string>());
  }
  worker->quit();
  mention_empty_folders(options, pool.found());
  mention_what_has_no_effect(pool, options);
  return pool.found();
}

int run_checks(const installation& here, const run_options& options,
               const std::optional<engine_choice>& engine, const std::string& no_engine_reason,
               const std::vector<std::string>& command_line,
               const std::vector<record_sink*>& sinks) {
  platform::catch_interrupts();
  known_issues known(read_known_issues(options.known_issues),
                     utc_now().substr(0, std::string_view("2026-11-30").size()), options.evidence);
  const std::optional<engine_choice> no_engine;
  worker_pool pool(here, options, options.list_only ? no_engine : engine);
  const auto cache_dir = platform::user_cache_dir();
  run_diagnosis diagnosis(here, options);
  std::vector<record_sink*> all_sinks = sinks;
  all_sinks.push_back(&diagnosis);
  run_loop loop(pool, options, ceilings_cache(cache_dir.empty() ? cache_dir : cache_dir / "assay"),
                all_sinks);
  loop.before_summary([&diagnosis](bool at_once) {
    std::vector<json> records = diagnosis.conclude(at_once);
    for (json& shares : share_of_model(diagnosis.found().traces, diagnosis.seen().entries)) {
      records.push_back(std::move(shares));
    }
    return records;
  });
  std::unique_ptr<worker_process> worker;
  try {
    worker = pool.start();
  } catch (const interrupted_error&) {
    loop.write(run_record(options, engine, command_line));
    return loop.finish_early(true);
  }
  mention_empty_folders(options, pool.found());
  mention_what_has_no_effect(pool, options);
  diagnosis.found(pool.found());
  if (options.list_only) {
    if (!worker) {
      throw tool_error(pool.engine_record().at("reason").get<std::string>());
    }
    worker->quit();
    return list_ids(make_schedule(pool.found(), options, {"cpu"}, nullptr), pool.found());
  }
  json engine_record = engine ? pool.engine_record() : failed_engine(no_engine_reason);
  if (engine) {
    // On the CPU the GPU part is not opened, but the build is what it is.
    engine_record["build"] = engine->torch.build;
    engine_record["torch_package"] = engine->torch.version;
  }
  schedule plan;
  if (worker && engine_record.at("status") == "ready") {
    try {
      plan = make_schedule(pool.found(), options, choose_devices(options.device, engine_record),
                           engine_record);
    } catch (const tool_error& e) {
      engine_record["status"] = "failed";
      engine_record["reason"] = e.what();
    }
  }
  loop.write(run_record(options, engine, command_line));
  for (const json& plugin : pool.found().plugins) {
    loop.write(plugin);
  }
  loop.write(engine_record);
  if (!worker || engine_record.at("status") != "ready") {
    return loop.finish_early(false);
  }
  loop.write(schedule_record(plan));
  known.meet(pool.found(), engine_record, plan.checks);
  loop.expect(std::move(known));
  return loop.run(std::move(worker), plan.checks);
}

}  // namespace assay
