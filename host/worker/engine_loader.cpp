// SPDX-License-Identifier: Apache-2.0
#include "engine_loader.hpp"

#include <chrono>
#include <exception>
#include <filesystem>
#include <stdexcept>

namespace assay::worker {

namespace {
using nlohmann::json;
namespace dll = boost::dll;

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}
}  // namespace

void engine_loader::open(const std::string& file, bool globally) {
  // Lazily bound: LibTorch has some 100,000 symbols, of which one run uses few.
  const auto mode = dll::load_mode::rtld_lazy |
                    (globally ? dll::load_mode::rtld_global : dll::load_mode::rtld_local);
  dll::fs::error_code error;
  dll::shared_library library;
  library.load(file, mode, error);
  if (error) {
    // Boost.DLL puts dlerror()'s words behind its own.
    throw std::runtime_error(file_name(file) + " does not open: " + error.message());
  }
  open_.push_back(std::move(library));
}

json engine_loader::load(const json& wanted) {
  json record{
      {"record", "engine"},  {"status", "failed"},  {"reason", ""}, {"devices", json::array()},
      {"backend_error", ""}, {"torch_version", ""}, {"build", ""}};
  const auto begin = std::chrono::steady_clock::now();
  try {
    for (const json& library : wanted.at("libraries")) {
      open(library.get<std::string>(), true);
    }
    std::string backend;
    if (wanted.at("backend").is_string()) {
      backend = wanted.at("backend").get<std::string>();
      try {
        open(backend, true);
      } catch (const std::exception& e) {
        if (wanted.at("backend_required").get<bool>()) {
          throw;
        }
        backend.clear();
        record["backend_error"] = e.what();
      }
    }
    open(wanted.at("file").get<std::string>(), false);
    const auto get = open_.back().get<const assay_engine*()>("assay_engine_get");
    const assay_engine* engine = get();
    if (engine->api != ASSAY_ENGINE_API || engine->struct_size < sizeof(assay_engine)) {
      throw std::runtime_error("the engine speaks interface " + std::to_string(engine->api) +
                               ", this assay " + std::to_string(ASSAY_ENGINE_API) +
                               "; build it again with tools/build-engine");
    }
    char* text = engine->describe(backend.empty() ? nullptr : backend.c_str());
    record.update(json::parse(text));
    engine->release(text);
    record["engine_built_for"] = engine->torch_version;
    if (record["reason"] == "") {
      engine_ = engine;
      record["status"] = "ready";
    }
  } catch (const std::exception& e) {
    record["reason"] = e.what();
  }
  const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - begin;
  record["load_ms"] = spent.count();
  return record;
}

}  // namespace assay::worker
