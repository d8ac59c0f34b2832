// SPDX-License-Identifier: Apache-2.0
//
// Made records of a run with the chain of evidence, as the engine and the host write them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "sample_run.hpp"

namespace assay::testing_support {

inline json traced(const std::string& op, int depth = 0, const json& changes = json::object()) {
  json record{{"op", op},
              {"depth", depth},
              {"leaf", true},
              {"kernel", "backend"},
              {"devices", {"cuda:0"}},
              {"cpu_elements", 0},
              {"crosses", false},
              {"crossing_elements", 0}};
  record.update(changes);
  return record;
}

inline json trace_of(const json& ops) {
  return {{"state", "seen"}, {"why", ""}, {"ops", ops}, {"left_out", 0}};
}

inline json profiler_of(double kernel_us, double count, const json& changes = json::object()) {
  json record{{"state", "seen"},
              {"why", ""},
              {"calls", 3},
              {"kernels", {{{"name", "gelu_kernel"}, {"count", count}, {"us", kernel_us}}}},
              {"kernel_us", kernel_us},
              {"kernel_count", count},
              {"copies", json::array()},
              {"memset_us", 0.0},
              {"call_us", kernel_us + 12.0},
              {"dispatch_us", 10.0},
              {"busy_us", kernel_us},
              {"copy_us", 0.0},
              {"idle_us", 12.0},
              {"syncs", 0.0},
              {"trace_file", nullptr}};
  record.update(changes);
  return record;
}

inline json compared(const json& changes = json::object()) {
  json record{{"elements", 1000},
              {"kind", "floating"},
              {"normalised_error", 5e-8},
              {"scaled_max_error", 2e-7},
              {"max_error", 3e-7},
              {"mismatched", 12},
              {"mismatched_picks", nullptr},
              {"nan_mismatched", 0},
              {"inf_mismatched", 0},
              {"constant", false},
              {"all_zero", false},
              {"reference_constant", false},
              {"device_as_asked", true},
              {"shape_as_reference", true},
              {"dtype_as_reference", true},
              {"layout_as_reference", true},
              {"expected", nullptr}};
  record.update(changes);
  return record;
}

inline json correct_of(const json& outputs, const json& changes = json::object()) {
  json record{{"state", "compared"},
              {"why", ""},
              {"reference", "the plan on the CPU in float64"},
              {"sizes", "classic"},
              {"outputs", outputs},
              {"repeatable", true},
              {"margins", {{"state", "intact"}, {"why", ""}}},
              {"tf32", false}};
  record.update(changes);
  return record;
}

/// A kernel of 40 us that moves 100 MB, without a fault.
inline json evidence_of(const json& changes = json::object()) {
  json record{{"trace", trace_of(json::array({traced("aten::gelu")}))},
              {"profiler", profiler_of(40.0, 1.0)},
              {"correct", correct_of(json::array({compared()}))},
              {"io_bytes", 100000000},
              {"sizes", "classic"},
              {"sdp_reasons", json::array()},
              {"part_us", {{"trace", 10.0}, {"profiler", 20.0}, {"correct", 30.0}}}};
  record.update(changes);
  return record;
}

inline json gathered_of(const json& evidence) {
  return {{"worker", 1},          {"status", "ok"}, {"phase", "done"},  {"error", nullptr},
          {"evidence", evidence}, {"stderr", ""},   {"elapsed_s", 0.02}};
}

inline json ceilings_record(const json& changes = json::object()) {
  json record{{"record", "ceilings"},
              {"device", "cuda:0"},
              {"state", "measured"},
              {"why", ""},
              {"measured_at", "2026-01-02T03:04:05Z"},
              {"copy_gb_per_s", 4000.0},
              {"read_gb_per_s", 4400.0},
              {"host_to_device_gb_per_s", 50.0},
              {"device_to_host_gb_per_s", 55.0},
              {"launch_us", 5.0},
              {"launch_kernel_us", 1.5},
              {"matrix_tflop_per_s",
               {{"float32", 50.0},
                {"tf32", 400.0},
                {"float16", 800.0},
                {"bfloat16", 780.0},
                {"float8_e4m3fn", nullptr}}},
              {"matrix_why", {{"float8_e4m3fn", "no such kernel"}}},
              {"elapsed_s", 1.2}};
  record.update(changes);
  return record;
}

inline json check_record(const json& changes = json::object()) {
  json record{
      {"record", "check"},
      {"check", "activation/gelu"},
      {"category", "activation"},
      {"name", "gelu"},
      {"plugin", "activation"},
      {"dtypes", {"float32", "float16"}},
      {"inputs", json::array()},
      {"plan", json::array()},
      {"reference", nullptr},
      {"cost", {{"elements", 25000000.0}, {"bytes", 0.0}, {"flops", 0.0}, {"matrix", false}}},
      {"accuracy",
       {{"exact", false},
        {"contraction", false},
        {"roundings", 4.0},
        {"terms", 1.0},
        {"picks_input", nullptr},
        {"picks_dimension", -1}}},
      {"paths", json::array()},
      {"large", nullptr}};
  record.update(changes);
  return record;
}

/// An output of 12.5 million float32 in a check of 42 us.
inline json timed_result(const json& changes = json::object()) {
  json record = result("activation", "gelu", "cuda:0",
                       {{"timing", timing(9.0, 42.0, 40.5, 800.0)},
                        {"baseline", false},
                        {"outputs",
                         {{{"device", "cuda:0"},
                           {"dtype", "float32"},
                           {"shape", {12500, 1000}},
                           {"strides", {1000, 1}}}}}});
  record.update(changes);
  return record;
}

}  // namespace assay::testing_support
