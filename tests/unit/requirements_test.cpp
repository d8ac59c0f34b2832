// SPDX-License-Identifier: Apache-2.0
#include "host/assay/requirements.hpp"

#include <gtest/gtest.h>

#include "evidence_run.hpp"
#include "host/assay/schedule.hpp"
#include "host/platform/memory.hpp"
#include "temp_dir.hpp"

namespace assay {
namespace {

using testing_support::json;

const run_site on_gpu{"cuda:0", "rocm", "2.11.0", "gfx90a:sramecc+:xnack-"};
const run_site on_cpu{"cpu", "rocm", "2.11.0", "AVX2"};
const run_site unknown{"cuda:0", "", "", ""};

std::string missing(const json& needs, const run_site& here = on_gpu) {
  return unmet({needs}, here);
}

TEST(requirements, accelerator) {
  EXPECT_EQ(missing({{"accelerator", "rocm"}}), "");
  EXPECT_EQ(missing({{"accelerator", "cuda,rocm"}}), "");
  EXPECT_EQ(missing({{"accelerator", "cuda"}}), "it needs cuda, and cuda:0 is of a rocm build");
  EXPECT_EQ(missing({{"accelerator", "rocm"}}, on_cpu), "it needs rocm, and the device is the cpu");
  EXPECT_EQ(missing({{"accelerator", "cuda,cpu"}}, on_cpu), "");
  EXPECT_EQ(missing({{"accelerator", "cuda"}}, unknown),
            "it needs cuda, and which build this LibTorch is, is not known");
}

TEST(requirements, architecture) {
  for (const char* globs : {"gfx90a", "gfx9*", "sm_*, gfx90a", "gfx90a:*"}) {
    EXPECT_EQ(missing({{"architectures", globs}}), "") << globs;
  }
  EXPECT_EQ(missing({{"architectures", "gfx10*,sm_90"}}),
            "it needs the architecture gfx10* or sm_90, and cuda:0 is gfx90a:sramecc+:xnack-");
  EXPECT_EQ(missing({{"architectures", "*"}}, unknown),
            "it needs the architecture *, and that of cuda:0 is not known");
}

TEST(requirements, version) {
  EXPECT_EQ(missing({{"torch_at_least", "2.11"}, {"torch_below", "2.11.1"}}), "");
  EXPECT_EQ(missing({{"torch_at_least", "2.11.1"}}),
            "it needs LibTorch 2.11.1 or newer, and this is 2.11.0");
  EXPECT_EQ(missing({{"torch_below", "2.11"}}),
            "it needs LibTorch older than 2.11, and this is 2.11.0");
  EXPECT_EQ(missing({{"torch_below", "99"}}, unknown),
            "it needs LibTorch older than 99, and the version of this one is not known");
}

TEST(requirements, of_stamp_plugin_and_check_together) {
  const json plugin{{"accelerator", "cuda"}, {"needs", {{{"torch_at_least", "3"}}}}};
  const json check{{"needs", {{"architectures", "gfx10*"}, {"accelerator", "cuda"}}}};
  const auto needs = requirements_of(check, plugin);
  EXPECT_EQ(unmet(needs, on_gpu),
            "it needs cuda, and cuda:0 is of a rocm build; it needs LibTorch 3 or newer, and this "
            "is 2.11.0; it needs the architecture gfx10*, and cuda:0 is gfx90a:sramecc+:xnack-");
  EXPECT_EQ(requirements_text(needs), "cuda; LibTorch 3 or newer; gfx10*");
  EXPECT_TRUE(requirements_of({{"needs", nullptr}}, {{"accelerator", "any"}}).empty());
  EXPECT_EQ(requirements_text({}), "");
}

TEST(requirements, what_is_asked_of_the_device) {
  const asked_requirements ask = to_ask({{{"free_memory_bytes", 5}},
                                         {{"free_memory_bytes", 7}, {"dtype_arithmetic", true}},
                                         {{"free_memory_bytes", 6}}});
  EXPECT_EQ(ask.free_memory_bytes, 7u);
  EXPECT_TRUE(ask.dtype_arithmetic);
  EXPECT_EQ(memory_unmet(7, "cuda:0", {{"free_bytes", 7}}), "");
  EXPECT_EQ(memory_unmet(std::uint64_t{2} << 30, "cuda:0", {{"free_bytes", 1 << 20}}),
            "it needs 2.0 GiB of free memory, and cuda:0 has 1.0 MiB");
  EXPECT_EQ(memory_unmet(7, "cuda:0", {{"free_bytes", nullptr}, {"why", "no HIP"}}),
            "it needs 7 bytes of free memory, and how much cuda:0 has is not known: no HIP");
  EXPECT_EQ(arithmetic_unmet("float16", "cuda:0", {{"adds", true}}), "");
  EXPECT_EQ(arithmetic_unmet("float16", "cuda:0", {{"adds", false}, {"why", "no kernel"}}),
            "it needs arithmetic in float16, and cuda:0 cannot add in it: no kernel");
  EXPECT_EQ(arithmetic_unmet("float16", "cuda:0", nullptr),
            "it needs arithmetic in float16, and whether cuda:0 has it is not known");
}

TEST(requirements, are_judged_once_the_device_is_known) {
  catalogue all;
  all.plugins = {{{"status", "loaded"}, {"id", "activation"}, {"accelerator", "cuda"}}};
  all.checks = {testing_support::check_record({{"needs", {{"free_memory_bytes", 5}}}})};
  const auto checks = make_schedule(all, {}, {"cuda:0"}, testing_support::engine_record()).checks;
  ASSERT_EQ(checks.size(), 1u);
  EXPECT_EQ(checks[0].unmet, "it needs cuda, and cuda:0 is of a rocm build");
  EXPECT_EQ(checks[0].ask.free_memory_bytes, 5u);
  EXPECT_EQ(make_schedule(all, {}, {"cuda:0"}, nullptr).checks.at(0).unmet, "");
  run_options without;
  without.disable = {"activation"};
  EXPECT_TRUE(
      make_schedule(all, without, {"cuda:0"}, testing_support::engine_record()).checks.empty())
      << "what the user left out is not skipped";
}

TEST(available_memory, is_the_least_of_what_the_system_and_its_groups_leave) {
  const testing::temp_dir root;
  EXPECT_FALSE(platform::available_memory(root.path()));
  root.write("proc/meminfo", "MemTotal:  4096 kB\nMemAvailable:   2048 kB\n");
  EXPECT_EQ(platform::available_memory(root.path()), 2048u * 1024);
  root.write("proc/self/cgroup", "0::/outer/inner\n");
  root.write("sys/fs/cgroup/outer/memory.max", "1048576\n");
  root.write("sys/fs/cgroup/outer/memory.current", "600000\n");
  root.write("sys/fs/cgroup/outer/memory.stat", "anon 5\ninactive_file 100000\n");
  root.write("sys/fs/cgroup/outer/inner/memory.max", "max\n");
  EXPECT_EQ(platform::available_memory(root.path()), 1048576u - 500000u);
  root.write("proc/self/cgroup", "5:cpu:/x\n3:memory:/job\n");
  root.write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "1000\n");
  root.write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "2000\n");
  EXPECT_EQ(platform::available_memory(root.path()), 0u);
}

}  // namespace
}  // namespace assay
