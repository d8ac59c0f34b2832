// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "examine.hpp"
#include "host/assay/collected_run.hpp"
#include "host/assay/errors.hpp"
#include "host/assay/run_loop.hpp"
#include "host/assay/schedule.hpp"
#include "host/assay/worker_pool.hpp"
#include "host/common/dtype_names.hpp"
#include "host/platform/platform.hpp"

namespace assay::conformance {

namespace {

using nlohmann::json;
using event = worker_process::event;

class collector : public record_sink {
 public:
  void on_record(const json& record) override { run_.add(record); }
  [[nodiscard]] const collected_run& run() const { return run_; }

 private:
  collected_run run_;
};

/// A worker in which checks are inspected one after the other; what ends it costs one answer.
class inspector {
 public:
  inspector(worker_pool& pool, double limit_s) : pool_(pool), limit_s_(limit_s) {}

  ~inspector() {
    if (worker_) {
      worker_->quit();
    }
  }
  inspector(const inspector&) = delete;
  inspector& operator=(const inspector&) = delete;

  json ask(const json& command, const char* kind) {
    if (!worker_) {
      worker_ = pool_.start();
    }
    if (!worker_) {
      return nullptr;
    }
    worker_->send(command);
    auto [what, record] = worker_->next(worker_process::seconds_from_now(limit_s_));
    if (what == event::interrupted) {
      throw interrupted_error();
    }
    if (what == event::record && text_of(record, "record") == kind) {
      return record;
    }
    worker_->end(std::chrono::milliseconds(0));
    worker_.reset();
    return nullptr;
  }

 private:
  worker_pool& pool_;
  double limit_s_;
  std::unique_ptr<worker_process> worker_;
};

examined_file* owner_of(std::vector<examined_file>& files, const std::string& plugin) {
  const auto found = std::find_if(files.begin(), files.end(), [&](const examined_file& one) {
    return one.loaded() && one.id == plugin;
  });
  return found == files.end() ? nullptr : &*found;
}

const json* record_of(const examined_file& one, const std::string& check) {
  const auto found = std::find_if(one.checks.begin(), one.checks.end(), [&](const json& known) {
    return text_of(known, "check") == check;
  });
  return found == one.checks.end() ? nullptr : &*found;
}

std::string first_dtype(const json& check) {
  const json& dtypes = list_of(check, "dtypes");
  return dtypes.empty() ? "" : dtypes.front().get<std::string>();
}

void judge_large_bytes(examined_file& one, const std::string& subject, const json& calls) {
  constexpr double gib = 1024.0 * 1024.0 * 1024.0;
  constexpr double most = 6.0;  // of a card with 8, where a display takes its part
  double largest = 0.0;
  for (const json& call : calls) {
    double bytes = 0.0;
    for (const char* side : {"inputs", "outputs"}) {
      for (const json& tensor : list_of(call, side)) {
        bytes += number_of(tensor, "bytes");
      }
    }
    largest = std::max(largest, bytes);
  }
  if (largest > most * gib) {
    one.add(level::warning, "large-size", subject,
            fmt::format("one call of its large form reads and writes {:.1f} GiB", largest / gib),
            "many cards have 8, and run out of memory there",
            "keep it between 0.5 and 2 GiB, which is above every last-level cache");
  }
}

double elements_of(const json& form) {
  double all = 0.0;
  for (const json& input : list_of(form, "inputs")) {
    double elements = 1.0;
    for (const json& size : list_of(input, "sizes")) {
      elements *= size.get<double>();
    }
    all += elements;
  }
  return all;
}

void inspect_large(examined_file& one, const json& check, inspector& ask,
                   std::vector<std::string>& untried) {
  const json& large = member_of(check, "large");
  if (large.is_null()) {
    return;
  }
  const std::string name = text_of(check, "check");
  const std::string dtype = first_dtype(check);
  if (elements_of(large) <= elements_of(check)) {
    one.add(level::warning, "large-size", name, "its large form is no larger than the check itself",
            "--sizes large is there to fill a device",
            "give it sizes of several times the last-level cache, 0.5 to 1 GiB");
  }
  const json seen = ask.ask(
      {{"do", "inspect"}, {"check", name}, {"dtype", dtype}, {"device", "meta"}, {"large", true}},
      "inspected");
  const std::string status = seen.is_null() ? "unknown" : text_of(seen, "status");
  if (status == "error") {
    one.add(level::error, "large-fails", name,
            fmt::format("its large form does not fit together: {}",
                        first_words(text_of(seen, "message"))),
            "--sizes large and --profile measure would fail on every device",
            "mend its sizes or its plan");
  } else if (status == "unknown") {
    untried.push_back(name);
  } else {
    examine_cost(one, name + " (large)", large, dtype, seen.at("calls"));
    judge_large_bytes(one, name, seen.at("calls"));
  }
}

void inspect_all(std::vector<examined_file>& files, worker_pool& pool, double limit_s,
                 const std::set<std::string>& ran) {
  inspector ask(pool, limit_s);
  for (examined_file& one : files) {
    std::vector<std::string> untried;
    for (const json& check : one.checks) {
      const std::string name = text_of(check, "check");
      const std::string dtype = first_dtype(check);
      if (!ran.contains(fmt::format("{}[{}]", name, dtype))) {
        continue;
      }
      const json seen = ask.ask({{"do", "inspect"},
                                 {"check", name},
                                 {"dtype", dtype},
                                 {"device", "cpu"},
                                 {"large", false}},
                                "inspected");
      if (text_of(seen, "status") == "ok") {
        examine_cost(one, name, check, dtype, seen.at("calls"));
      }
      inspect_large(one, check, ask, untried);
    }
    if (!untried.empty()) {
      one.add(level::note, "large-untried", "",
              fmt::format("{} of its large forms could not be tried without data ({})",
                          untried.size(), fmt::join(untried, ", ")),
              "LibTorch has operators that need data; whether the sizes fit together shows on a "
              "device only",
              "run them: assay run --sizes large");
    }
  }
  const json named = ask.ask({{"do", "operators"}}, "operators");
  std::vector<std::string> operators;
  for (const json& name : list_of(named, "names")) {
    operators.push_back(name.get<std::string>());
  }
  for (examined_file& one : files) {
    examine_paths(one, operators);
  }
}

run_options options_of_runs(const std::vector<examined_file>& files, const run_options& given) {
  run_options options = given;
  options.device = "cpu";
  options.profile = "quick";
  options.sizes = "classic";
  options.evidence = true;
  options.repeat_neighbours = 0;
  options.plugin_dirs.clear();
  for (const examined_file& one : files) {
    if (one.loaded()) {
      options.plugin_dirs.push_back(one.file);
    }
  }
  if (options.dtypes.empty()) {
    for (const auto& [code, name] : dtype_names) {
      options.dtypes.emplace_back(name);
    }
  }
  return options;
}

/// Two of the files may stand in each other's way, though each loads alone.
void note_refusals(std::vector<examined_file>& files, const catalogue& found) {
  for (const json& plugin : found.plugins) {
    if (text_of(plugin, "status") != "refused") {
      continue;
    }
    for (examined_file& one : files) {
      std::error_code error;
      if (one.loaded() && std::filesystem::equivalent(one.file, text_of(plugin, "file"), error)) {
        one.add(level::error, "collision", "",
                "beside the other files it is refused: " + printable(text_of(plugin, "reason")),
                "assay refuses the second of two plugins with one name", "rename what both have");
      }
    }
  }
}

}  // namespace

check_counts examine_checks(std::vector<examined_file>& files, const installation& here,
                            const run_options& given, const std::optional<engine_choice>& engine,
                            const std::string& no_engine_reason) {
  check_counts counts;
  if (std::all_of(files.begin(), files.end(),
                  [](const examined_file& one) { return one.checks.empty(); })) {
    return counts;
  }
  if (!engine) {
    counts.not_run = no_engine_reason;
    return counts;
  }
  const run_options options = options_of_runs(files, given);
  const installation bare = without_plugins(here);
  worker_pool pool(bare, options, engine);
  auto worker = pool.start();
  note_refusals(files, pool.found());
  if (!worker || text_of(pool.engine_record(), "status") != "ready") {
    counts.not_run = text_of(pool.engine_record(), "reason");
    return counts;
  }
  json engine_record = pool.engine_record();
  engine_record["build"] = engine->torch.build;  // also where its GPU part was not opened
  const schedule plan = make_schedule(pool.found(), options, {"cpu"}, engine_record);
  collector seen;
  const auto cache_dir = platform::user_cache_dir();
  run_loop loop(pool, options, ceilings_cache(cache_dir.empty() ? cache_dir : cache_dir / "assay"),
                {&seen});
  counts.interrupted = loop.run(std::move(worker), plan.checks) == exit_status::interrupted;
  const json ceilings = seen.run().ceilings.empty() ? json() : seen.run().ceilings.back();
  std::set<std::string> ran;
  for (const collected_run::entry& entry : seen.run().entries) {
    examined_file* one = owner_of(files, text_of(entry.result, "plugin"));
    const std::string name = entry.id.substr(0, entry.id.find('['));
    const json* check = one == nullptr ? nullptr : record_of(*one, name);
    if (check == nullptr) {
      continue;
    }
    judge_run(*one, *check, entry.result, entry.evidence, ceilings);
    const std::string status = text_of(entry.result, "status");
    ++(status == "ok" ? counts.ran : status == "skipped" ? counts.skipped : counts.failed);
    if (status == "ok") {
      ran.insert(entry.id);
    }
  }
  for (const left_out_check& left : plan.not_selected) {
    for (examined_file& one : files) {
      if (record_of(one, left.id.substr(0, left.id.find('['))) != nullptr) {
        ++counts.skipped;
        one.add(level::note, "check-skipped", left.id, "it did not run: " + left.reason,
                "nothing is known of it here", "run it on a machine that has what it needs");
      }
    }
  }
  if (!counts.interrupted) {
    inspect_all(files, pool, options.timeout_s, ran);
  }
  return counts;
}

}  // namespace assay::conformance
