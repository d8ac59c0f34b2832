// SPDX-License-Identifier: Apache-2.0
#include "engine_loader.hpp"

#include <chrono>
#include <exception>
#include <filesystem>
#include <stdexcept>

#include "host/common/open_library.hpp"

namespace assay::worker {

namespace {
using nlohmann::json;
namespace dll = boost::dll;
}  // namespace

void engine_loader::open(const std::string& file, bool globally) {
  // Lazily bound: LibTorch has some 100,000 symbols, of which one run uses few.
  const auto mode = dll::load_mode::rtld_lazy |
                    (globally ? dll::load_mode::rtld_global : dll::load_mode::rtld_local);
  const auto begin = std::chrono::steady_clock::now();
  try {
    open_.push_back(open_library(file, mode));
  } catch (const std::exception& e) {
    throw std::runtime_error(file + " does not open: " + e.what());
  }
  note_step(std::filesystem::path(file).filename().string(), begin);
}

void engine_loader::note_step(const std::string& what,
                              std::chrono::steady_clock::time_point begin) {
  const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - begin;
  steps_.push_back({{"what", what}, {"ms", spent.count()}});
}

json engine_loader::load(const json& wanted) {
  json record{
      {"record", "engine"},  {"status", "failed"},  {"reason", ""}, {"devices", json::array()},
      {"backend_error", ""}, {"torch_version", ""}, {"build", ""}};
  const auto begin = std::chrono::steady_clock::now();
  try {
    try {
      for (const json& library : wanted.at("libraries")) {
        open(library.get<std::string>(), true);
      }
    } catch (const std::exception& e) {
      throw std::runtime_error(std::string(e.what()) + "; --torch DIR names another LibTorch");
    }
    std::string backend;
    if (wanted.at("backend").is_string()) {
      backend = wanted.at("backend").get<std::string>();
      try {
        open(backend, true);
      } catch (const std::exception& e) {
        if (wanted.at("backend_required").get<bool>()) {
          throw std::runtime_error(std::string(e.what()) + "; --device cpu runs without it");
        }
        backend.clear();
        record["backend_error"] = e.what();
      }
    }
    const std::string file = wanted.at("file");
    try {
      open(file, false);
    } catch (const std::exception& e) {
      throw std::runtime_error(std::string(e.what()) + "; build it again with tools/build-engine");
    }
    if (!open_.back().has("assay_engine_get")) {
      throw std::runtime_error(file + " is no engine: it exports no assay_engine_get; build it " +
                               "again with tools/build-engine");
    }
    const auto get = open_.back().get<const assay_engine*()>("assay_engine_get");
    const assay_engine* engine = get();
    if (engine->api != ASSAY_ENGINE_API || engine->struct_size < sizeof(assay_engine)) {
      throw std::runtime_error("the engine " + file + " speaks interface " +
                               std::to_string(engine->api) + ", this assay " +
                               std::to_string(ASSAY_ENGINE_API) +
                               "; build it again with tools/build-engine");
    }
    const auto describe_begin = std::chrono::steady_clock::now();
    char* text = engine->describe(backend.empty() ? nullptr : backend.c_str());
    record.update(json::parse(text));
    engine->release(text);
    note_step("describe", describe_begin);
    backend_ = backend;
    record["engine_built_for"] = engine->torch_version;
    if (record["reason"].get<std::string>().empty()) {
      engine_ = engine;
      record["status"] = "ready";
    }
  } catch (const std::exception& e) {
    record["reason"] = e.what();
  }
  const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - begin;
  record["load_steps"] = std::move(steps_);
  record["load_ms"] = spent.count();
  return record;
}

}  // namespace assay::worker
