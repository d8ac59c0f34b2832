// SPDX-License-Identifier: Apache-2.0
//
// The last link: bounds, ceilings, and what a number means.
#include <gtest/gtest.h>

#include "verdict_fixture.hpp"

namespace assay {
namespace {

using namespace testing_support;

class verdict_speed_test : public verdict_test {};

TEST_F(verdict_speed_test, short_kernels_are_launch_bound) {
  evidence()["profiler"] = profiler_of(2.1, 1.0);
  json verdict = judged();
  EXPECT_EQ(verdict["bound"], "launch");
  EXPECT_TRUE(verdict["percent"].is_null());
  EXPECT_EQ(verdict["links"]["speed"]["state"], "pass");
  EXPECT_EQ(verdict["links"]["speed"]["why"],
            "launch-bound: a 2.1 us kernel behind 9 us of dispatch");
  evidence()["profiler"] = profiler_of(12.0, 3.0);
  EXPECT_EQ(judged()["bound"], "launch");
  EXPECT_HAS(why_of("speed"), "3 kernels of 12 us together");
  evidence()["profiler"] = profiler_of(7.0, 1.0);  // over 1.3 launches
  EXPECT_EQ(judged()["bound"], "memory");
  result_["timing"] = timing(9.2, 42.0, 7.5, 800.0);  // over 1.3 times the work
  EXPECT_EQ(judged()["bound"], "launch");
  evidence()["profiler"] = profiler_of(0.0, 0.0);
  EXPECT_HAS(why_of("speed"), "no work for the device");
}

TEST_F(verdict_speed_test, on_the_cpu_operators_are_counted) {
  on_the_cpu();
  ceilings_["launch_us"] = 0.2;
  EXPECT_EQ(judged()["bound"], "memory");
  ceilings_["launch_us"] = 40.0;
  EXPECT_EQ(judged()["bound"], "launch");
  EXPECT_HAS(why_of("speed"), "of which each costs 40 us");
}

TEST_F(verdict_speed_test, a_wait_inside_the_call_is_named) {
  evidence()["profiler"]["syncs"] = 1.0;
  EXPECT_EQ(judged()["bound"], "host sync");
  EXPECT_TRUE(judged()["percent"].is_null());
  EXPECT_EQ(state_of("speed"), "pass");
  EXPECT_HAS(why_of("speed"), "the host waits for the device inside the call (once)");
  evidence()["profiler"]["syncs"] = 1.0 / 3.0;  // not in each call: an accident
  EXPECT_EQ(judged()["bound"], "memory");
  evidence()["profiler"]["syncs"] = nullptr;
  EXPECT_EQ(judged()["bound"], "memory");
  result_["timing"] = timing(41.0, 42.0, 41.5, 800.0, "span");
  EXPECT_EQ(judged()["bound"], "host sync");
  result_["timing"] = timing(9.0, 42.0, 41.5, 800.0, "span");
  EXPECT_EQ(judged()["bound"], "memory");
}

TEST_F(verdict_speed_test, matrix_products_are_held_against_the_matrix_rate) {
  check_["cost"] = {{"elements", 3e6}, {"bytes", 0.0}, {"flops", 8e8}, {"matrix", true}};
  json verdict = judged();  // 20 TFLOP/s of 50, 300 GB/s of 4000
  EXPECT_EQ(verdict["bound"], "compute");
  EXPECT_EQ(verdict["ceiling"], "matrix rate float32");
  EXPECT_DOUBLE_EQ(verdict["percent"], 40.0);
  EXPECT_DOUBLE_EQ(verdict["tflop_per_s"], 20.0);
  evidence()["correct"]["tf32"] = true;
  check_["accuracy"]["contraction"] = true;
  verdict = judged();
  EXPECT_EQ(verdict["ceiling"], "copy bandwidth");  // 0.5 % of the TF32 rate
  check_["cost"]["flops"] = 8e9;
  verdict = judged();
  EXPECT_EQ(verdict["ceiling"], "matrix rate tf32");
  EXPECT_DOUBLE_EQ(verdict["percent"], 50.0);
  EXPECT_TRUE(verdict["datasheet_percent"].is_null());
  result_["dtype"] = "float16";
  verdict = judged();
  EXPECT_EQ(verdict["ceiling"], "matrix rate float16");
  EXPECT_NEAR(verdict["datasheet_percent"], 100.0 * 200.0 / 122.8, 1e-9);
  check_["cost"]["matrix"] = false;
  EXPECT_EQ(judged()["ceiling"], "copy bandwidth");
}

TEST_F(verdict_speed_test, what_mostly_reads_is_held_against_the_read_bandwidth) {
  result_["outputs"][0]["shape"] = {1000};
  EXPECT_EQ(judged()["ceiling"], "read bandwidth");
  EXPECT_DOUBLE_EQ(judged()["percent"], 100.0 * 2500.0 / 4400.0);
  result_["outputs"][0]["shape"] = {6250000};  // a quarter of the bytes: half way between
  EXPECT_EQ(judged()["ceiling"], "memory bandwidth");
  EXPECT_DOUBLE_EQ(judged()["percent"], 100.0 * 2500.0 / 4200.0);
  result_["outputs"][0]["shape"] = {1000};
  ceilings_["read_gb_per_s"] = nullptr;
  EXPECT_EQ(judged()["ceiling"], "copy bandwidth");
}

TEST_F(verdict_speed_test, without_a_stated_cost_inputs_and_outputs_count) {
  check_["cost"] = nullptr;
  evidence()["io_bytes"] = 80000000;
  EXPECT_DOUBLE_EQ(judged()["gb_per_s"], 2000.0);
  check_["cost"] = {{"elements", 0.0}, {"bytes", 0.0}, {"flops", 0.0}, {"matrix", false}};
  EXPECT_EQ(state_of("speed"), "unknown");
  EXPECT_HAS(why_of("speed"), "does not say");
}

TEST_F(verdict_speed_test, above_the_ceiling_is_a_cache_or_an_alarm) {
  evidence()["profiler"] = profiler_of(20.0, 1.0);  // 5000 GB/s of 4000
  json verdict = judged();
  EXPECT_EQ(verdict["bound"], "memory");
  EXPECT_TRUE(verdict["percent"].is_null());
  EXPECT_EQ(verdict["links"]["speed"]["state"], "pass");
  EXPECT_EQ(verdict["links"]["speed"]["why"], "faster than the memory: its data lie in a cache");
  evidence()["io_bytes"] = 1 << 30;
  EXPECT_EQ(state_of("speed"), "warn");
  EXPECT_DOUBLE_EQ(judged()["percent"], 125.0);
  EXPECT_HAS(why_of("speed"), "distrust this number or the ceiling, which --refresh-ceilings");
  EXPECT_TRUE(above_ceiling(judged()));
  ceilings_["copy_gb_per_s"] = 4900.0;  // within what two measurements differ by
  EXPECT_EQ(state_of("speed"), "pass");
  EXPECT_FALSE(above_ceiling(judged()));
}

TEST_F(verdict_speed_test, far_below_every_ceiling_it_is_latency) {
  evidence()["profiler"] = profiler_of(7.3, 1.0);
  result_["timing"] = timing(7.4, 9.4, 7.3, 800.0);
  check_["cost"]["elements"] = 65536.0;  // 36 GB/s of 4000
  const json verdict = judged();
  EXPECT_EQ(verdict["bound"], "latency");
  EXPECT_NEAR(verdict["percent"], 0.9, 0.01);
  EXPECT_EQ(verdict["links"]["speed"]["state"], "pass");
  check_["cost"]["elements"] = 655360.0;
  EXPECT_EQ(judged()["bound"], "memory");
}

TEST_F(verdict_speed_test, a_long_kernel_far_below_every_ceiling_is_slow_at_any_size) {
  check_["cost"]["elements"] = 65536.0;
  evidence()["profiler"] = profiler_of(5000.0, 1.0);  // 1000 launches
  result_["timing"] = timing(9.0, 5010.0, 5000.0, 8000.0);
  EXPECT_EQ(state_of("speed"), "warn");
  EXPECT_HAS(why_of("speed"),
             "slow: 0.0013 % of the copy bandwidth measured here, for as long as "
             "1000 launches take");
  result_["timing"] = timing(9.0, 12.0, 10.0, 8000.0);  // slow under the profiler alone
  EXPECT_EQ(state_of("speed"), "pass");
  result_["timing"] = timing(9.0, 5010.0, 5000.0, 8000.0);
  evidence()["profiler"] = profiler_of(49.0, 1.0);  // under 10 launches: work too small to tell
  EXPECT_EQ(state_of("speed"), "pass");
  evidence()["profiler"] = profiler_of(5000.0, 1.0);
  check_["cost"]["elements"] = 65536000.0;  // over 1 %
  EXPECT_EQ(state_of("speed"), "pass");
  EXPECT_EQ(judged()["bound"], "latency");
}

TEST_F(verdict_speed_test, slow_is_a_warning_at_sizes_that_fill_the_device) {
  evidence()["profiler"] = profiler_of(100.0, 1.0);  // 1000 GB/s of 4000
  EXPECT_EQ(state_of("speed"), "pass");
  evidence()["sizes"] = "large";
  check_["large"] = {{"cost", check_["cost"]}};
  check_["cost"] = nullptr;
  EXPECT_EQ(state_of("speed"), "warn");
  EXPECT_EQ(why_of("speed"), "slow: 25 % of the copy bandwidth measured here");
  EXPECT_HAS(why_of("correct"), "compared at the classic sizes");
  check_["large"]["cost"]["elements"] = 32000000.0;
  EXPECT_EQ(state_of("speed"), "pass");
}

TEST_F(verdict_speed_test, speed_is_unknown_without_time_or_ceilings) {
  ceilings_ = ceilings_record({{"state", "unknown"}, {"why", "it crashed"}});
  EXPECT_EQ(state_of("speed"), "unknown");
  EXPECT_EQ(why_of("speed"), "the ceilings are not known: it crashed");
  ceilings_ = nullptr;
  EXPECT_EQ(why_of("speed"), "the ceilings are not known");
  ceilings_ = ceilings_record({{"copy_gb_per_s", nullptr}});
  EXPECT_EQ(state_of("speed"), "unknown");
  ceilings_ = ceilings_record();
  evidence()["profiler"] = {{"state", "unknown"}, {"why", "no permission"}};
  EXPECT_EQ(state_of("speed"), "pass");  // the event pair holds
  EXPECT_NEAR(judged()["gb_per_s"], 1e8 / 40.5 / 1e3, 1e-9);
  result_["timing"] = timing(9.0, 42.0, 41.5, 800.0, "span");
  EXPECT_EQ(state_of("speed"), "unknown");
  EXPECT_EQ(why_of("speed"), "no permission, and the event pair gives an upper bound alone");
  result_["timing"] = nullptr;
  EXPECT_EQ(why_of("speed"), "it was not timed");
}

TEST_F(verdict_speed_test, speed_up_over_the_cpu) {
  baseline_ = timed_result({{"device", "cpu"}, {"timing", timing(400.0, 420.0, nullptr, 500.0)}});
  EXPECT_DOUBLE_EQ(judged()["speed_up"], 10.0);
  baseline_["timing"] = nullptr;
  EXPECT_TRUE(judged()["speed_up"].is_null());
}

}  // namespace
}  // namespace assay
