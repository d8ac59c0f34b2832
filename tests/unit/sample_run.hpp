// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace assay::testing_support {

using nlohmann::json;

inline json timing(double submit, double wall, json device, double first,
                   const std::string& basis = "held") {
  json basis_or_null = device.is_null() ? json() : json(basis);
  return {{"profile", "classic"},     {"first_call_us", first},
          {"warm_up_calls", 3},       {"calls", 20},
          {"submit_us", submit},      {"wall_us", wall},
          {"device_us", device},      {"device_basis", basis_or_null},
          {"samples", nullptr},       {"wall_mad_us", nullptr},
          {"wall_min_us", nullptr},   {"device_mad_us", nullptr},
          {"device_min_us", nullptr}, {"stop_reason", "count"}};
}

inline json result(const std::string& category, const std::string& name, const std::string& device,
                   const json& changes) {
  json record{
      {"record", "result"},
      {"id", category + "/" + name + "[float32]"},
      {"category", category},
      {"name", name},
      {"dtype", "float32"},
      {"device", device},
      {"plugin", category},
      {"worker", 1},
      {"repeat_of", nullptr},
      {"status", "ok"},
      {"phase", "done"},
      {"outputs",
       {{{"device", device}, {"dtype", "float32"}, {"shape", {2, 3}}, {"strides", {3, 1}}}}},
      {"on_device", true},
      {"timing", nullptr},
      {"warnings", json::array()},
      {"error", nullptr},
      {"poisoned", false},
      {"extra_threads", 0},
      {"signal", nullptr},
      {"exit_code", nullptr},
      {"stdout", ""},
      {"stderr", ""},
      {"stdout_bytes", 0},
      {"stderr_bytes", 0},
      {"elapsed_s", 0.01},
      {"note", ""}};
  record.update(changes);
  return record;
}

inline json starting(const json& of) {
  return {{"record", "starting"},
          {"id", of["id"]},
          {"device", of["device"]},
          {"worker", of["worker"]},
          {"repeat_of", of["repeat_of"]}};
}

inline json run_record() {
  return {{"record", "run"},
          {"schema_version", 1},
          {"assay_version", "0.1.0"},
          {"started", "2026-01-02T03:04:05Z"},
          {"command_line", {"assay", "run"}},
          {"options", {{"device", {{"value", "auto"}, {"source", "built in"}}}}},
          {"torch_dir", "/venv/torch"},
          {"torch_found_by", "--torch"},
          {"device_asked", "auto"},
          {"seed", 0},
          {"profile", "classic"}};
}

inline json engine_record() {
  return {{"record", "engine"},
          {"status", "ready"},
          {"reason", nullptr},
          {"torch_version", "2.11.0+rocm7.2"},
          {"build", "rocm"},
          {"backend_error", nullptr},
          {"devices",
           {{{"device", "cpu"}, {"name", "CPU"}, {"architecture", "x86_64"}},
            {{"device", "cuda:0"}, {"name", "AMD Radeon RX 6600"}, {"architecture", "gfx1032"}}}},
          {"load_ms", 700.0},
          {"stderr", ""}};
}

inline json refused_plugin() {
  return {{"record", "plugin"},
          {"file", "/plugins/broken.assay.so"},
          {"status", "refused"},
          {"reason", "built for ABI 2, this assay has ABI 1: rebuild it with this assay's SDK"},
          {"id", "broken"},
          {"version", "1.0"},
          {"vendor", "somebody"},
          {"accelerator", "any"},
          {"abi", "2.0"},
          {"categories", json::array()},
          {"probes", json::array()},
          {"classifiers", json::array()},
          {"check_count", 0}};
}

inline json summary(const std::string& text, bool interrupted) {
  return {{"record", "summary"},
          {"checks", 9},
          {"on_device", 3},
          {"errors", 1},
          {"warnings", 1},
          {"crashes", 1},
          {"timeouts", 1},
          {"skipped", 1},
          {"not_run", interrupted ? 1 : 0},
          {"refused_plugins", 1},
          {"devices", {"cuda"}},
          {"elapsed_s", 1.3},
          {"interrupted", interrupted},
          {"exit_status", interrupted ? 130 : 1},
          {"text", text}};
}

/// A run with one of everything that can happen to a check.
inline std::vector<json> sample_run(bool interrupted) {
  std::vector<json> results;
  results.push_back(
      result("elementwise", "add", "cuda:0", {{"timing", timing(6.421, 7.08, 1.731, 812.5)}}));
  results.push_back(result("shape_loss", "transpose_contiguous", "cuda:0",
                           {{"timing", timing(12.44, 0.91, 13.06, 2345678.9, "span")}}));
  results.push_back(
      result("activation", "gelu", "cuda:0",
             {{"timing", timing(99.97, 143.2, 12.0, 20012.0)},
              {"warnings",
               {{{"text", "gelu: something is deprecated\nand this is its second line"},
                 {"count", 23},
                 {"source", "Activation.cpp:12"}}}},
              {"stderr", "MIOpen(HIP): Warning [x]\n\x1b[31mred\x1b[0m & <xml> \xff end\n"},
              {"stderr_bytes", 40},
              {"note", "1 warning"}}));
  results.push_back(result(
      "norm", "batch_norm", "cuda:0",
      {{"status", "error"},
       {"phase", "first_call"},
       {"outputs", json::array()},
       {"on_device", nullptr},
       {"error",
        {{"type", "c10::Error"},
         {"message", "miopenStatusUnknownError\n\nfatal error: 'type_traits' file not found"},
         {"trace", "frame #0: somewhere"}}},
       {"note",
        "miopenStatusUnknownError: the run-time compiler does not find the C++ headers of this "
        "system"}}));
  results.push_back(result("conv", "conv2d", "cuda:0",
                           {{"status", "crash"},
                            {"phase", "timed"},
                            {"outputs", json::array()},
                            {"on_device", nullptr},
                            {"signal", {{"number", 11}, {"name", "SIGSEGV"}}},
                            {"stdout", "about to crash\n"},
                            {"stdout_bytes", 123456},
                            {"note", "SIGSEGV in phase timed; neighbour innocent"}}));
  results.push_back(
      result("norm", "batch_norm", "cuda:0",
             {{"worker", 2},
              {"repeat_of", "ran just before the crash of conv/conv2d[float32]"},
              {"status", "error"},
              {"phase", "first_call"},
              {"outputs", json::array()},
              {"on_device", nullptr},
              {"error", {{"type", "c10::Error"}, {"message", "again"}, {"trace", nullptr}}}}));
  results.push_back(result("linear", "mm", "cuda:0",
                           {{"worker", 2},
                            {"status", "timeout"},
                            {"phase", "warm_up"},
                            {"outputs", json::array()},
                            {"on_device", nullptr},
                            {"elapsed_s", 120.02},
                            {"note", "no answer for 120 s"}}));
  results.push_back(result("attention", "sdpa", "cuda:0",
                           {{"worker", 3},
                            {"status", "skipped"},
                            {"phase", "bind"},
                            {"outputs", json::array()},
                            {"on_device", nullptr},
                            {"note", "this LibTorch has no operator aten::sdpa"}}));
  results.push_back(result("reduction", "sum", "cuda:0",
                           {{"worker", 3},
                            {"outputs",
                             {{{"device", "cpu"},
                               {"dtype", "float32"},
                               {"shape", json::array()},
                               {"strides", json::array()}}}},
                            {"on_device", false},
                            {"timing", timing(8.0, 9.0, nullptr, 10.0)},
                            {"note", "output on cpu"}}));

  std::vector<json> records{run_record(), refused_plugin(), engine_record()};
  json checks = json::array();
  for (const json& r : results) {
    if (r["repeat_of"].is_null()) {
      checks.push_back({{"id", r["id"]}, {"device", r["device"]}});
    }
  }
  json not_selected = json::array();
  not_selected.push_back({{"id", "elementwise/exp[float32]"}, {"reason", "--disable */exp"}});
  if (interrupted) {
    checks.push_back({{"id", "tensor/cat[float32]"}, {"device", "cuda:0"}});
  }
  records.push_back({{"record", "schedule"}, {"checks", checks}, {"not_selected", not_selected}});
  for (const json& r : results) {
    records.push_back(starting(r));
    records.push_back(r);
    if (r["status"] == "crash" || r["status"] == "timeout") {
      records.push_back({{"record", "worker"},
                         {"worker", r["worker"]},
                         {"reason", "it died"},
                         {"signal", r["signal"]},
                         {"exit_code", nullptr}});
    }
  }
  records.push_back(summary(
      "Summary: 3/8 returned cuda tensors | 1 errors | 1 warnings | 1 crashes | 1 timeouts | 1.3 s",
      interrupted));
  return records;
}

}  // namespace assay::testing_support
