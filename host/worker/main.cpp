// SPDX-License-Identifier: Apache-2.0
//
// assay-worker: the process in which third-party code runs. It speaks the protocol of
// docs/architecture.md with the assay that started it, and is of no use alone.
#include <array>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <exception>
#include <filesystem>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "diagnostics.hpp"
#include "engine_loader.hpp"
#include "host/common/dtype_names.hpp"
#include "host/platform/memory.hpp"
#include "host/platform/platform.hpp"
#include "nvidia_management.hpp"
#include "plugin_loader.hpp"
#include "trace_plugins.hpp"

namespace assay::worker {

using nlohmann::json;

static void flush_output() {
  std::cout.flush();
  std::fflush(stdout);
  std::fflush(stderr);
}

namespace {

/// The record channel: whole lines, from any thread.
class record_channel {
 public:
  explicit record_channel(int descriptor) : descriptor_(descriptor) {}

  void write(const json& record) {
    const std::string line = record.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
    const std::scoped_lock lock(mutex_);
    if (!platform::write_all(descriptor_, line.data(), line.size())) {
      platform::end_this_group();
    }
  }

 private:
  int descriptor_;
  std::mutex mutex_;
};

/// The command channel, read by a thread of its own: when it ends, assay is gone, and this process
/// must not outlive it, whatever its main thread is doing.
class command_channel {
 public:
  explicit command_channel(int descriptor) : descriptor_(descriptor), reader_([this] { read(); }) {
    reader_.detach();
  }

  json next() {
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [this] { return !lines_.empty(); });
    const std::string line = std::move(lines_.front());
    lines_.pop_front();
    return json::parse(line);
  }

 private:
  void read() {
    std::array<char, 4096> buffer{};
    std::string line;
    while (const std::size_t count =
               platform::read_some(descriptor_, buffer.data(), buffer.size())) {
      for (const char* c = buffer.data(); c != buffer.data() + count; ++c) {
        if (*c != '\n') {
          line.push_back(*c);
          continue;
        }
        const std::scoped_lock lock(mutex_);
        lines_.push_back(std::move(line));
        line.clear();
        ready_.notify_one();
      }
    }
    platform::end_this_group();
  }

  int descriptor_;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<std::string> lines_;
  std::thread reader_;
};

/// What every question about a check asks of the engine, with all that it points to.
struct engine_job {
  engine_job(const json& command, const owned_check& check, const registrations& plugin)
      : device(command.at("device").get<std::string>()) {
    for (const std::string& library : plugin.libraries) {
      libraries.push_back(library.c_str());
    }
    job.struct_size = sizeof job;
    job.check = &check.c_form();
    job.dtype = dtype_code(command.at("dtype").get<std::string>());
    job.device = device.c_str();
    job.large = command.value("large", false) ? 1 : 0;
    job.libraries = libraries.data();
    job.library_count = static_cast<std::uint32_t>(libraries.size());
  }
  ~engine_job() = default;
  engine_job(const engine_job&) = delete;
  engine_job& operator=(const engine_job&) = delete;

  std::string device;
  std::vector<const char*> libraries;
  assay_engine_job job{};
};

class worker {
 public:
  worker(command_channel& commands, record_channel& records)
      : commands_(commands),
        records_(records),
        plugins_([this](const json& record) { records_.write(record); }) {}

  void serve() {
    set_up(commands_.next());
    for (json command = commands_.next(); command.at("do") != "quit"; command = commands_.next()) {
      const auto what = command.at("do").get<std::string>();
      if (what == "run") {
        run(command);
      } else if (what == "probe") {
        const assay_probe* probe = plugins_.find_probe(command.at("id").get<std::string>());
        answer(probe == nullptr ? json() : ask_probe(*probe, command), "probe");
      } else if (what == "classify") {
        const auto* classifier = plugins_.find_classifier(command.at("id").get<std::string>());
        answer(classifier == nullptr ? json() : ask_classifier(*classifier, command), "classified");
      } else if (what == "device_state") {
        tell_device_state(command);
      } else if (what == "clocks") {
        answer(nvidia_clocks(), "clocks");
      } else if (what == "inspect") {
        inspect(command);
      } else if (what == "operators") {
        name_operators();
      } else {
        ask_engine(what, command.at("device").get<std::string>());
      }
    }
  }

 private:
  void set_up(const json& command) {
    platform::send_stdout_to(command.at("stdout_file").get<std::string>());
    std::map<std::string, left_out> excluded;
    for (const json& entry : command.at("excluded")) {
      excluded[entry.at("file")] = {entry.value("status", "refused"), entry.at("reason")};
    }
    if (const json only = command.value("only", json()); !only.is_null()) {
      plugins_.open_only(only);
    }
    std::vector<std::filesystem::path> places;
    for (const json& place : command.at("plugins")) {
      places.emplace_back(place.get<std::string>());
    }
    std::vector<std::filesystem::path> traces;
    for (const json& file : command.value("traces", json::array())) {
      traces.emplace_back(file.get<std::string>());
    }
    const json& wanted = command.at("engine");
    json engine_record{{"record", "engine"}, {"status", "none"}};
    const bool trusted = command.at("trust_plugins").get<bool>();
    plugins_.set_options(command.value("options", json::object()));
    // LibTorch is opened by the thread that will call it: its profiler wants that.
    const bool overlap = !wanted.is_null() && command.at("overlap").get<bool>();
    const auto load_plugins = [&] {
      // Beside LibTorch's own threads those of a plugin cannot be told.
      const auto before = overlap ? std::nullopt : platform::thread_count();
      plugins_.load_all(places, excluded, trusted);
      load_traces(plugins_, traces, excluded, trusted,
                  [this](const json& record) { records_.write(record); });
      const auto after = platform::thread_count();
      records_.write({{"record", "plugins_done"},
                      {"extra_threads", before && after ? json(*after - *before) : json()}});
    };
    auto loaded = std::async(overlap ? std::launch::async : std::launch::deferred, load_plugins);
    if (!overlap) {
      loaded.get();
    }
    if (!wanted.is_null()) {
      engine_record = engine_.load(wanted);
    }
    if (overlap) {
      loaded.get();
    }
    flush_output();
    records_.write(engine_record);
  }

  void answer(json record, const char* kind) {
    if (record.is_null()) {
      record = {{"state", "unknown"}, {"fact", "this worker does not have it"}};
    }
    record["record"] = kind;
    flush_output();
    records_.write(record);
  }

  /// What the engine wrote, which is given back to it.
  json take(char* text) {
    json record = json::parse(text);
    engine_.engine()->release(text);
    return record;
  }

  // "prepare_evidence" and "ceilings": a record of that name.
  void ask_engine(const std::string& what, const std::string& device) {
    json record{{"state", "unknown"}, {"why", "this worker has no engine"}};
    if (const assay_engine* engine = engine_.engine(); engine != nullptr) {
      record =
          take((what == "ceilings" ? engine->ceilings : engine->prepare_evidence)(device.c_str()));
    }
    record["record"] = what;
    record["device"] = device;
    flush_output();
    records_.write(record);
  }

  void tell_device_state(const json& command) {
    const auto device = command.at("device").get<std::string>();
    const json& dtype = command.at("dtype");
    json record{{"free_bytes", nullptr}, {"adds", nullptr}, {"why", "this worker has no engine"}};
    if (const assay_engine* engine = engine_.engine(); engine != nullptr) {
      record =
          take(engine->device_state(engine_.backend(), device.c_str(),
                                    dtype.is_null() ? 0 : dtype_code(dtype.get<std::string>())));
    }
    const auto available = platform::available_memory();
    if (device == "cpu" && dtype.is_null() && available) {
      record["free_bytes"] = *available;
    }
    record["record"] = "device_state";
    record["device"] = device;
    flush_output();
    records_.write(record);
  }

  /// A record of this kind from what the engine wrote.
  void pass_on(const char* kind, char* text) {
    json record = take(text);
    record["record"] = kind;
    flush_output();
    records_.write(record);
  }

  void inspect(const json& command) {
    const auto [check, plugin] = plugins_.find(command.at("check").get<std::string>());
    if (check == nullptr || engine_.engine() == nullptr) {
      records_.write({{"record", "inspected"},
                      {"status", "error"},
                      {"phase", "library"},
                      {"message", "this worker has no such check or no engine"},
                      {"calls", json::array()}});
      return;
    }
    const engine_job asked(command, *check, *plugin);
    pass_on("inspected", engine_.engine()->inspect(&asked.job));
  }

  void name_operators() {
    if (engine_.engine() == nullptr) {
      records_.write({{"record", "operators"}, {"names", json::array()}});
      return;
    }
    pass_on("operators", engine_.engine()->operators());
  }

  void run(const json& command) {
    const auto [check, plugin] = plugins_.find(command.at("check").get<std::string>());
    if (check == nullptr || engine_.engine() == nullptr) {
      records_.write({{"record", "result"},
                      {"status", "error"},
                      {"phase", "library"},
                      {"error",
                       {{"type", "worker"},
                        {"message", "this worker has no such check or no engine"},
                        {"trace", nullptr}}}});
      return;
    }
    engine_job asked(command, *check, *plugin);
    assay_engine_job& job = asked.job;
    job.profile = command.at("profile").get<std::int32_t>();
    job.seed = command.at("seed").get<std::uint64_t>();
    job.measure_limit_s = command.at("measure_limit_s").get<double>();
    job.untimed = command.value("untimed", false) ? 1 : 0;
    job.evidence = command.value("evidence", false) ? 1 : 0;
    job.cold = command.value("cold", false) ? 1 : 0;
    const json trace = command.value("trace_file", json());
    const std::string trace_file = trace.is_string() ? trace.get<std::string>() : "";
    job.trace_file = trace_file.empty() ? nullptr : trace_file.c_str();
    // By the first call the device's own threads are there, which are no check's doing.
    struct progress {
      record_channel& records;
      std::optional<int> threads_before;
    } seen{records_, platform::thread_count()};
    job.context = &seen;
    job.phase = [](void* context, const char* name) {
      auto& mine = *static_cast<progress*>(context);
      mine.records.write({{"record", "phase"}, {"phase", name}});
      if (std::string_view(name) == "first_call") {
        mine.threads_before = platform::thread_count();
      }
    };

    char* text = engine_.engine()->run(&job);
    const auto threads_after = platform::thread_count();
    json result = take(text);
    result["record"] = "result";
    result["extra_threads"] =
        seen.threads_before && threads_after ? json(*threads_after - *seen.threads_before) : json();
    // What the check printed must lie in the files before the result says that it is over.
    flush_output();
    records_.write(result);
  }

  command_channel& commands_;
  record_channel& records_;
  plugin_registry plugins_;
  engine_loader engine_;
};

}  // namespace

}  // namespace assay::worker

int main(int argc, char** argv) {
  namespace platform = assay::platform;
  if (argc != 2 || std::string(argv[1]) != "--serve") {
    std::cerr << "assay-worker: this is a part of assay, which starts it; use assay instead\n";
    return 2;
  }
  platform::crash_quietly();
  platform::keep_freed_memory();
  platform::die_with_parent();
  const platform::channels channels = platform::take_over_channels();
  if (channels.commands < 0 || channels.records < 0) {
    std::cerr << "assay-worker: its channels cannot be moved\n";
    return 3;
  }
  // All three are leaked: no library is ever unloaded, and a plugin's thread may outlive main.
  auto* records = std::make_unique<assay::worker::record_channel>(channels.records).release();
  auto* commands = std::make_unique<assay::worker::command_channel>(channels.commands).release();
  int status = 0;
  try {
    std::make_unique<assay::worker::worker>(*commands, *records).release()->serve();
  } catch (const std::exception& e) {
    std::cerr << "assay-worker: " << e.what() << "\n";
    status = 3;
  }
  assay::worker::flush_output();
  std::fflush(nullptr);  // the logs that libraries write into files of their own
  // The end of the channel tells assay that all is said; taking down a GPU context takes longer.
  platform::close_descriptor(channels.records);
  platform::end_this_process(status);
}
