// SPDX-License-Identifier: Apache-2.0
//
// What changed around the checks, from the records `environment`, `clocks` and `ceilings`.
#include "host/results/compare_environment.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "host/results/fingerprint.hpp"
#include "temp_dir.hpp"

namespace assay {
namespace {

using nlohmann::json;

json environment_line() {
  return {{"record", "environment"},
          {"libtorch",
           {{"version", "2.11.0"},
            {"package", "2.11.0+rocm7.2"},
            {"git_hash", "70d99e998b4955e0049d13a98d77ae1b14db1f45"},
            {"build", "rocm"},
            {"cuda", nullptr},
            {"cudnn", nullptr},
            {"hip", "7.2.41"},
            {"miopen", "3.5.1"},
            {"settings",
             {"GCC 13.3", "LAPACK is enabled",
              "Build settings: BLAS_INFO=mkl, TORCH_VERSION=2.11.0, USE_ROCM=ON, "}}}},
          {"drivers", {{{"name", "amdgpu"}, {"version", "6.12.12"}}}},
          {"devices", {{{"device", "cuda:0"}, {"memory_bytes", 8573157376U}}}},
          {"system", {{"os", "Tree Linux 7"}, {"kernel", "6.10.5"}, {"processors", 2}}},
          {"variables", {{"HSA_ENABLE_SDMA", "0"}}},
          {"watched_variables", {"HSA_*"}}};
}

json clocks_line(const char* when, const json& throttled) {
  return {{"record", "clocks"},
          {"when", when},
          {"driver", nullptr},
          {"why", ""},
          {"devices",
           {{{"device", "cuda:0"},
             {"clock_mhz", 500},
             {"clock_max_mhz", 2900},
             {"power_cap_w", 120.0},
             {"throttled", throttled}}}}};
}

json ceilings_line(double copy) {
  return {{"record", "ceilings"},
          {"device", "cuda:0"},
          {"copy_gb_per_s", copy},
          {"matrix_tflop_per_s", {{"float16", 50.0}}}};
}

saved_run run_of(const std::vector<json>& lines) {
  const testing::temp_dir temp;
  std::string text =
      json{{"record", "run"}, {"schema_version", 1}, {"assay_version", "0.1.0"}}.dump() + "\n";
  for (const json& line : lines) {
    text += line.dump() + "\n";
  }
  return read_saved_run(temp.write("run.jsonl", text));
}

std::vector<std::string> changes(const saved_run& before, const saved_run& after) {
  std::vector<std::string> lines;
  for (const environment_change& one : compare_environments({before}, {after})) {
    lines.push_back(one.group + ": " + one.name + ": " + one.before + " -> " + one.after);
  }
  return lines;
}

using lines = std::vector<std::string>;

TEST(environment, the_same_is_nothing) {
  const saved_run run = run_of({environment_line(), clocks_line("before", json::array()),
                                ceilings_line(200), clocks_line("after", json::array())});
  EXPECT_EQ(changes(run, run), lines{});
}

TEST(environment, each_difference_in_its_group) {
  json after = environment_line();
  after["libtorch"]["miopen"] = "3.5.2";
  after["libtorch"]["settings"] = {"GCC 14.1", "LAPACK is enabled",
                                   "Build settings: BLAS_INFO=open, USE_ROCM=ON, "};
  after["drivers"] = {{{"name", "amdgpu"}, {"version", nullptr}}};
  after["devices"][0]["memory_bytes"] = 17179869184U;
  after["system"]["kernel"] = "6.12.1";
  after["variables"] = {{"MIOPEN_FIND_MODE", ""}};
  EXPECT_EQ(
      changes(run_of({environment_line(), ceilings_line(200)}),
              run_of({after, ceilings_line(150)})),
      (lines{"LibTorch: LibTorch's MIOpen: 3.5.1 -> 3.5.2", "LibTorch: LibTorch GCC: 13.3 -> 14.1",
             "LibTorch: LibTorch BLAS_INFO: mkl -> open",
             "driver: driver amdgpu: 6.12.12 -> the kernel's own",
             "device: memory of cuda:0: 8.57 GB -> 17.2 GB", "system: kernel: 6.10.5 -> 6.12.1",
             "variables: variable HSA_ENABLE_SDMA: 0 -> not set",
             "variables: variable MIOPEN_FIND_MODE: not set -> set to nothing",
             "ceilings: ceiling copy of cuda:0, GB/s: 200 -> 150 (-25 %)"}));
}

TEST(environment, ceilings_that_only_breathe_are_no_difference) {
  EXPECT_EQ(changes(run_of({ceilings_line(200)}), run_of({ceilings_line(215)})), lines{});
  EXPECT_EQ(changes(run_of({ceilings_line(200)}), run_of({ceilings_line(225)})).size(), 1U);
}

TEST(environment, limits_and_what_holds_a_device_back) {
  json capped = clocks_line("before", json::array());
  capped["devices"][0]["power_cap_w"] = 90.0;
  const json idle = clocks_line("before", json::array());
  EXPECT_EQ(changes(run_of({idle, clocks_line("after", json::array())}),
                    run_of({capped, clocks_line("after", {"temperature"})})),
            (lines{"clocks: held back, cuda:0: by nothing -> by temperature",
                   "clocks: power cap of cuda:0: 120 W -> 90 W"}));
}

TEST(environment, throttling_of_the_cpu_is_what_the_run_added) {
  const auto counted = [](const char* when, int count) {
    return json{{"record", "clocks"},
                {"when", when},
                {"devices", {{{"device", "cpu"}, {"throttle_count", count}}}}};
  };
  EXPECT_EQ(changes(run_of({counted("before", 3), counted("after", 3)}),
                    run_of({counted("before", 90), counted("after", 95)})),
            (lines{"clocks: throttled during the run, cpu: no -> yes"}));
}

TEST(environment, an_older_file_is_said_to_have_none) {
  EXPECT_EQ(changes(run_of({}), run_of({environment_line()})),
            (lines{"assay: environment record: not recorded -> recorded"}));
  EXPECT_EQ(changes(run_of({environment_line()}), run_of({})),
            (lines{"assay: environment record: recorded -> not recorded"}));
  EXPECT_EQ(changes(run_of({}), run_of({})), lines{});
}

}  // namespace
}  // namespace assay
