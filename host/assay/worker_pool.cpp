// SPDX-License-Identifier: Apache-2.0
#include "worker_pool.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "errors.hpp"
#include "plugin_settings.hpp"

namespace assay {

namespace {
using nlohmann::json;
using namespace std::chrono_literals;

// Opening LibTorch from a cold disk takes its time; a plugin's entry function has no excuse.
constexpr double engine_limit_s = 300.0;

double plugin_limit_s(const run_options& options) {
  constexpr double least = 5.0;  // enough for a busy machine, however short the checks may be
  constexpr double most = 30.0;
  return std::clamp(options.timeout_s, least, most);
}

}  // namespace

json setup_command(const worker_process& worker, json plugins, const run_options& options) {
  return {{"do", "setup"},
          {"stdout_file", worker.stdout_file().string()},
          {"plugins", std::move(plugins)},
          {"excluded", json::array()},
          {"only", nullptr},
          {"options", settings_for_worker(options)},
          {"trust_plugins", options.trust_plugins},
          {"overlap", false},
          {"engine", nullptr}};
}

std::string in_words(const platform::ending& ending) {
  if (ending.signal) {
    return ending.signal_name;
  }
  return ending.exit_code ? "exit status " + std::to_string(*ending.exit_code) : "unknown end";
}

std::string last_line(const std::string& text) {
  const auto end = text.find_last_not_of(" \t\n");
  if (end == std::string::npos) {
    return "";
  }
  const auto begin = text.find_last_of('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1,
                     end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

worker_pool::worker_pool(const installation& here, const run_options& options,
                         const std::optional<engine_choice>& engine)
    : here_(here), options_(options), engine_(engine), survey_(here, options) {
  for (const surveyed_file& one : survey_.files()) {
    if (!one.status.empty()) {
      excluded_.push_back(
          {{"file", one.file.string()}, {"status", one.status}, {"reason", one.reason}});
    }
  }
}

bool worker_pool::wants_backend() const {
  return engine_ && options_.device != "cpu" && engine_->torch.backend;
}

json worker_pool::setup_command(const worker_process& worker) const {
  json plugins = json::array();
  for (const auto& place : survey_.places()) {
    plugins.push_back(place.string());
  }
  json engine = nullptr;
  if (engine_) {
    json libraries = json::array();
    for (const auto& library : engine_->torch.libraries) {
      libraries.push_back(library.string());
    }
    engine = {{"file", engine_->engine.string()},
              {"libraries", std::move(libraries)},
              {"backend", wants_backend() ? json(engine_->torch.backend->string()) : json()},
              {"backend_required", options_.device != "auto" && options_.device != "all"}};
  }
  json command = assay::setup_command(worker, std::move(plugins), options_);
  command["excluded"] = excluded_;
  command["traces"] = json::array();
  for (const auto& file : options_.traces) {
    command["traces"].push_back(file.string());
  }
  if (survey_.lock() != nullptr) {
    command["only"] = command["traces"];  // data that the user named
    for (const surveyed_file& one : survey_.files()) {
      if (one.status.empty() && !one.sha256.empty()) {
        command["only"].push_back(one.file.string());
      }
    }
  }
  command["overlap"] = overlap_;
  command["engine"] = std::move(engine);
  return command;
}

void worker_pool::blame(worker_process& worker, const std::string& file, const std::string& what) {
  const std::string line = last_line(worker.stderr_between({}, worker.output_so_far()));
  excluded_.push_back({{"file", file},
                       {"status", "refused"},
                       {"reason", what + (line.empty() ? "" : "; it printed last: " + line) +
                                      "; take it away, or have its vendor mend it"}});
}

// Only once a plugin is loaded does it name its operator libraries, which are opened later still.
bool worker_pool::is_pinned(const json& plugin) {
  if (survey_.lock() == nullptr || plugin.value("status", "") != "loaded") {
    return true;
  }
  for (const json& library : plugin.value("operator_libraries", json::array())) {
    const std::string reason =
        survey_.lock()->library_refusal(plugin.value("sha256", ""), library.get<std::string>());
    if (!reason.empty()) {
      excluded_.push_back({{"file", plugin.at("file")}, {"status", "refused"}, {"reason", reason}});
      return false;
    }
  }
  return true;
}

worker_pool::outcome worker_pool::set_up(worker_process& worker) {
  using event = worker_process::event;
  found_ = {};
  engine_record_ = nullptr;
  worker.send(setup_command(worker));
  std::string loading;
  bool plugins_done = false;
  for (;;) {
    const double limit_s = plugins_done ? engine_limit_s : plugin_limit_s(options_);
    auto [what, record] = worker.next(worker_process::seconds_from_now(limit_s));
    if (what == event::record) {
      const std::string kind = record.value("record", "");
      if (kind == "loading") {
        loading = record.at("file");
      } else if (kind == "plugin") {
        loading.clear();
        survey_.complete(record);
        if (!is_pinned(record)) {
          worker.end(0ms);
          return outcome::plugin_fault;
        }
        found_.plugins.push_back(std::move(record));
      } else if (kind == "check") {
        found_.checks.push_back(std::move(record));
      } else if (kind == "trace") {
        found_.traces.push_back(std::move(record));
      } else if (kind == "plugins_done") {
        plugins_done = true;
        extra_threads_ = record.value("extra_threads", json());
      } else if (kind == "engine") {
        record["stderr"] = worker.stderr_between({}, worker.output_so_far());
        engine_record_ = std::move(record);
        for (const surveyed_file& one : survey_.files()) {
          found_.known.push_back(one.who);
        }
        return outcome::ready;
      }
      continue;
    }
    if (what == event::interrupted) {
      throw interrupted_error();
    }
    worker.end(what == event::timeout ? 200ms : 0ms);
    const std::string fault =
        what == event::timeout ? fmt::format("did not come back within {:g} s", limit_s)
        : what == event::flood
            ? fmt::format("printed more than {} MiB", worker_process::output_limit_bytes >> 20)
            : "ended the process (" + in_words(worker.ending()) + ")";
    if (overlap_ && engine_ && !plugins_done) {
      overlap_ = false;  // plugin or LibTorch? The next worker opens one after the other.
      return outcome::early_fault;
    }
    if (!plugins_done && !loading.empty()) {
      blame(worker, loading, "while it was loaded it " + fault);
      return outcome::plugin_fault;
    }
    const std::string line = last_line(worker.stderr_between({}, worker.output_so_far()));
    const bool with_backend = plugins_done && wants_backend();
    engine_record_ = {
        {"record", "engine"},
        {"status", "failed"},
        {"reason", (plugins_done ? "opening LibTorch and its engine " : "assay-worker ") + fault +
                       (line.empty() ? "" : "; it printed last: " + line) +
                       (with_backend ? "; --device cpu leaves " +
                                           engine_->torch.backend->filename().string() + " out"
                                     : "")},
        {"torch_version", ""},
        {"build", ""},
        {"backend_error", ""},
        {"devices", json::array()},
        {"load_ms", nullptr},
        {"stderr", worker.stderr_between({}, worker.output_so_far())}};
    return outcome::engine_fault;
  }
}

std::unique_ptr<worker_process> worker_pool::start(const environment_changes& changes) {
  for (;;) {
    auto worker = std::make_unique<worker_process>(
        here_.worker, scratch_.path(), ++started_,
        engine_ ? engine_->torch.library_dirs : std::vector<std::filesystem::path>(),
        std::vector<std::string>(), changes);
    switch (set_up(*worker)) {
      case outcome::ready:
        return worker;
      case outcome::engine_fault:
        return nullptr;
      case outcome::plugin_fault:
      case outcome::early_fault:
        break;
    }
  }
}

}  // namespace assay
