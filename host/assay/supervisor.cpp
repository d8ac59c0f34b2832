// SPDX-License-Identifier: Apache-2.0
#include "supervisor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/dll/runtime_symbol_info.hpp>
#include <iostream>
#include <map>
#include <set>

#include "collected_run.hpp"
#include "environment_record.hpp"
#include "errors.hpp"
#include "host/common/utc_time.hpp"
#include "host/diagnosis/knowledge.hpp"
#include "known_issues.hpp"
#include "model_share.hpp"
#include "plugin_settings.hpp"
#include "run_diagnosis.hpp"
#include "run_loop.hpp"
#include "schedule.hpp"
#include "watched_variables.hpp"
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

namespace {

/// One run of checks with one LibTorch: what surrounds the loop.
class check_run {
 public:
  check_run(const installation& here, run_options options,
            const std::optional<engine_choice>& engine, std::string no_engine_reason,
            std::vector<std::string> command_line, const std::vector<record_sink*>& sinks)
      : options_(std::move(options)),
        engine_(engine),
        no_engine_reason_(std::move(no_engine_reason)),
        command_line_(std::move(command_line)),
        known_(read_known_issues(options_.known_issues), utc_today(), options_.evidence),
        pool_(here, options_, options_.list_only ? no_engine_ : engine_),
        diagnosis_(here, options_),
        loop_(pool_, options_, ceilings_cache(cache_folder()), with(sinks, diagnosis_)) {
    loop_.before_summary([this](bool at_once) {
      std::vector<json> records = diagnosis_.conclude(at_once);
      for (json& shares : share_of_model(diagnosis_.found().traces, diagnosis_.seen().entries)) {
        records.push_back(std::move(shares));
      }
      return records;
    });
  }

  /// Opens plugins and LibTorch and writes what they are. A status: there is nothing to time.
  std::optional<int> begin() {
    std::unique_ptr<worker_process> worker;
    try {
      worker = pool_.start();
    } catch (const interrupted_error&) {
      loop_.write(run_record(options_, engine_, command_line_));
      return loop_.finish_early(true);
    }
    mention_empty_folders(options_, pool_.found());
    mention_what_has_no_effect(pool_, options_);
    diagnosis_.found(pool_.found());
    if (options_.list_only) {
      if (!worker) {
        throw tool_error(pool_.engine_record().at("reason").get<std::string>());
      }
      worker->quit();
      return list_ids(make_schedule(pool_.found(), options_, {"cpu"}, nullptr), pool_.found());
    }
    json engine_record = engine_ ? pool_.engine_record() : failed_engine(no_engine_reason_);
    if (engine_) {
      // On the CPU the GPU part is not opened, but the build is what it is.
      engine_record["build"] = engine_->torch.build;
      engine_record["torch_package"] = engine_->torch.version;
    }
    schedule plan;
    if (worker && engine_record.at("status") == "ready") {
      try {
        plan = make_schedule(pool_.found(), options_,
                             choose_devices(options_.device, engine_record), engine_record);
      } catch (const tool_error& e) {
        engine_record["status"] = "failed";
        engine_record["reason"] = e.what();
      }
    }
    loop_.write(run_record(options_, engine_, command_line_));
    for (const json& plugin : pool_.found().plugins) {
      loop_.write(plugin);
    }
    const std::vector<std::string> watched =
        watched_variables(pool_.survey().files(), options_.trust_plugins);
    const json environment =
        environment_record(engine_record, engine_ ? &engine_->torch : nullptr,
                           {watched, watched_in(platform::environment_variables(), watched)});
    loop_.write(engine_record);
    loop_.write(environment);
    if (!worker || engine_record.at("status") != "ready") {
      return loop_.finish_early(false);
    }
    loop_.write(schedule_record(plan));
    known_.meet(pool_.found(), engine_record, plan.checks);
    loop_.expect(std::move(known_));
    loop_.begin(std::move(worker), plan.checks);
    return std::nullopt;
  }

  run_loop& loop() { return loop_; }

 private:
  static std::filesystem::path cache_folder() {
    const auto folder = platform::user_cache_dir();
    return folder.empty() ? folder : folder / "assay";
  }
  static std::vector<record_sink*> with(std::vector<record_sink*> sinks, record_sink& last) {
    sinks.push_back(&last);
    return sinks;
  }

  run_options options_;
  std::optional<engine_choice> engine_;
  std::optional<engine_choice> no_engine_;
  std::string no_engine_reason_;
  std::vector<std::string> command_line_;
  known_issues known_;
  worker_pool pool_;
  run_diagnosis diagnosis_;
  run_loop loop_;
};

}  // namespace

int run_checks(const installation& here, const run_options& options,
               const std::optional<engine_choice>& engine, const std::string& no_engine_reason,
               const std::vector<std::string>& command_line,
               const std::vector<record_sink*>& sinks) {
  platform::catch_interrupts();
  check_run one(here, options, engine, no_engine_reason, command_line, sinks);
  if (const auto status = one.begin()) {
    return *status;
  }
  return one.loop().run_to_end();
}

std::array<int, 2> run_side_by_side(const installation& here, const std::array<run_side, 2>& sides,
                                    const std::vector<std::string>& command_line) {
  platform::catch_interrupts();
  std::array<std::unique_ptr<check_run>, 2> runs;
  std::array<std::optional<int>, 2> ended;
  for (const std::size_t i : {0, 1}) {
    runs[i] = std::make_unique<check_run>(here, sides[i].options, sides[i].engine, "", command_line,
                                          sides[i].sinks);
    ended[i] = runs[i]->begin();
  }
  bool interrupted = std::any_of(ended.begin(), ended.end(), [](const auto& status) {
    return status == exit_status::interrupted;
  });
  const auto each_in_turn = [&](std::size_t first, const auto& step) {
    bool any = false;
    for (const std::size_t i : {first, 1 - first}) {
      any = (!ended[i] && step(runs[i]->loop())) || any;
    }
    return any;
  };
  try {
    // Who comes first alternates: whatever the first does to the machine, the other suffers.
    std::size_t first = 0;
    while (!interrupted && each_in_turn(first, [](run_loop& loop) { return loop.time_next(); })) {
      first = 1 - first;
    }
    if (!interrupted) {
      each_in_turn(0, [](run_loop& loop) {
        loop.examine();
        return true;
      });
    }
  } catch (const interrupted_error&) {
    interrupted = true;
  }
  std::array<int, 2> status{};
  for (const std::size_t i : {0, 1}) {
    status[i] = ended[i] ? *ended[i] : runs[i]->loop().end(interrupted);
  }
  return status;
}

}  // namespace assay
