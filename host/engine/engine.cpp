// SPDX-License-Identifier: Apache-2.0
//
// The engine's C interface: JSON texts out, nothing thrown.
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <ATen/ops/ones.h>
#include <torch/version.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>

#include "device_info.hpp"
#include "device_state.hpp"
#include "engine_api.h"
#include "evidence/ceilings.hpp"
#include "evidence/device_profile.hpp"
#include "inspect_plan.hpp"
#include "run_check.hpp"

#define ASSAY_TEXT_OF(number) #number
#define ASSAY_TEXT(number) ASSAY_TEXT_OF(number)

namespace {

using nlohmann::json;

char* text_of(const json& record) {
  const std::string text = record.dump(-1, ' ', false, json::error_handler_t::replace);
  // It crosses a C interface: whoever gets it gives it back to release().
  // NOLINTNEXTLINE(cppcoreguidelines-no-malloc)
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy != nullptr) {
    std::memcpy(copy, text.c_str(), text.size() + 1);
  }
  return copy;
}

// LibTorch tells its version in the text of its build settings alone.
std::string loaded_version() {
  const std::string settings = at::show_config();
  const std::string key = "TORCH_VERSION=";
  const auto at = settings.find(key);
  if (at == std::string::npos) {
    return "";
  }
  const auto begin = at + key.size();
  return settings.substr(begin, settings.find_first_of(", \n", begin) - begin);
}

char* describe(const char* backend_library) {
  try {
    // The intra-op threads start now, so that no check is charged with them.
    at::ones({at::get_num_threads() * std::int64_t{65536}}).exp_();
    return text_of({{"torch_version", loaded_version()},
                    {"build", assay::engine::build_kind()},
                    {"config", at::show_config()},
                    {"devices", assay::engine::list_devices(backend_library)}});
  } catch (const std::exception& e) {
    return text_of({{"reason", e.what()}});
  } catch (...) {
    return text_of({{"reason", "LibTorch threw something that is not a std::exception"}});
  }
}

char* run(const assay_engine_job* job) {
  try {
    return text_of(assay::engine::run_check(*job));
  } catch (const std::exception& e) {
    return text_of({{"status", "error"},
                    {"phase", "library"},
                    {"error", {{"type", "engine"}, {"message", e.what()}, {"trace", nullptr}}}});
  }
}

char* prepare_evidence(const char* device) {
  std::string why = "the CPU has no device kernels";
  try {
    const c10::Device wanted(device);
    if (!wanted.is_cpu()) {
      why = assay::engine::profiler_sees(wanted) ? "" : assay::engine::profiler_is_blind;
    }
  } catch (const std::exception& e) {
    why = e.what();
  }
  return text_of({{"state", why.empty() ? "seen" : "unknown"}, {"why", why}});
}

char* ceilings(const char* device) {
  json record{{"state", "measured"}, {"why", ""}};
  try {
    record.update(assay::engine::measure_ceilings(c10::Device(device)));
  } catch (const std::exception& e) {
    record = {{"state", "unknown"}, {"why", e.what()}};
  } catch (...) {
    record = {{"state", "unknown"}, {"why", "LibTorch threw something that is no std::exception"}};
  }
  return text_of(record);
}

char* device_state(const char* backend_library, const char* device, std::int32_t dtype) {
  return text_of(assay::engine::device_state(backend_library, device, dtype));
}

char* inspect(const assay_engine_job* job) { return text_of(assay::engine::inspect_plan(*job)); }

char* operators() { return text_of({{"names", assay::engine::operator_names()}}); }

void release(char* text) { std::free(text); }  // NOLINT(cppcoreguidelines-no-malloc)

constexpr assay_engine engine{
    sizeof(assay_engine),
    ASSAY_ENGINE_API,
    ASSAY_TEXT(TORCH_VERSION_MAJOR) "." ASSAY_TEXT(TORCH_VERSION_MINOR) "." ASSAY_TEXT(
        TORCH_VERSION_PATCH),
    describe,
    run,
    prepare_evidence,
    ceilings,
    device_state,
    inspect,
    operators,
    release,
};

}  // namespace

extern "C" ASSAY_EXPORT const assay_engine* assay_engine_get() { return &engine; }
