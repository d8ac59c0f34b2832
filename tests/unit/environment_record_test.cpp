// SPDX-License-Identifier: Apache-2.0
//
// What a result file says of the machine: read from trees of files, and only what is there.
#include "host/assay/environment_record.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "host/assay/watched_variables.hpp"
#include "host/platform/machine.hpp"
#include "temp_dir.hpp"

namespace assay {
namespace {

using nlohmann::json;

const char* const card = "sys/bus/pci/devices/0000:03:00.0/";

class fake_machine : public ::testing::Test {
 protected:
  fake_machine() {
    temp_.write("etc/os-release", "NAME=\"Tree\"\nPRETTY_NAME=\"Tree Linux 7\"\n");
    temp_.write("proc/sys/kernel/osrelease", "6.10.5-tree\n");
    temp_.write("proc/meminfo", "MemTotal:       16000000 kB\nMemFree: 1 kB\n");
    temp_.write("proc/cpuinfo",
                "processor\t: 0\nmodel name\t: Tree CPU 9\n\nprocessor\t: 1\nmodel name\t: x\n");
  }

  void add_amd_gpu() {
    temp_.write("sys/module/amdgpu/version", "6.12.12\n");
    temp_.make_dir("drivers/amdgpu");
    temp_.write(std::string(card) + "class", "0x030000\n");
    std::filesystem::create_directory_symlink("../../../../../drivers/amdgpu",
                                              temp_.path() / (std::string(card) + "driver"));
    temp_.write(std::string(card) + "mem_info_vram_total", "8573157376\n");
    temp_.write(std::string(card) + "pp_dpm_sclk", "S: 19Mhz *\n0: 500Mhz\n1: 2900Mhz\n");
    temp_.write(std::string(card) + "pp_dpm_mclk", "0: 96Mhz\n1: 1094Mhz *\n");
    temp_.write(std::string(card) + "hwmon/hwmon4/power1_cap", "120000000\n");
    temp_.write(std::string(card) + "hwmon/hwmon4/power1_average", "31000000\n");
    temp_.write(std::string(card) + "hwmon/hwmon4/temp1_input", "46000\n");
    temp_.write(std::string(card) + "unique_id", "4f2d8a91c07b33e5\n");
  }

  /// The kernel's table gpu_metrics_v1_3, with these reasons.
  void hold_back(std::uint64_t reasons, char revision = 3) {
    std::string table(120, '\0');
    table[0] = 120;
    table[2] = 1;
    table[3] = revision;
    for (std::size_t i = 0; i < 8; ++i) {
      table[112 + i] = static_cast<char>((reasons >> (8 * i)) & 0xFFU);
    }
    temp_.write(std::string(card) + "gpu_metrics", table);
  }

  const std::filesystem::path& root() const { return temp_.path(); }

  testing::temp_dir temp_;
};

json engine_on_amd() {
  return {{"torch_version", "2.11.0"},
          {"build", "rocm"},
          {"config",
           "PyTorch built with:\n  - GCC 13.3\n  - HIP Runtime 7.2.41\n  - MIOpen 3.5.1\n"
           "  - Build settings: BLAS_INFO=mkl, TORCH_VERSION=2.11.0, \n"},
          {"devices",
           {{{"device", "cpu"}, {"name", "Tree CPU 9"}, {"architecture", "AVX2"}},
            {{"device", "cuda:0"},
             {"name", "AMD Radeon RX 6600"},
             {"architecture", "gfx1032"},
             {"pci", "0000:03:00.0"},
             {"memory_bytes", nullptr}}}}};
}

TEST_F(fake_machine, whole_record) {
  add_amd_gpu();
  json engine = engine_on_amd();
  torch_install torch;
  torch.version = "2.11.0+rocm7.2";
  torch.git_hash = "70d99e998b";
  const json record =
      environment_record(engine, &torch, {{"OMP_*"}, {{"OMP_NUM_THREADS", "2"}}}, root());
  EXPECT_FALSE(engine.contains("config"));
  const json& libtorch = record.at("libtorch");
  EXPECT_EQ(libtorch.at("package"), "2.11.0+rocm7.2");
  EXPECT_EQ(libtorch.at("git_hash"), "70d99e998b");
  EXPECT_EQ(libtorch.at("hip"), "7.2.41");
  EXPECT_EQ(libtorch.at("miopen"), "3.5.1");
  EXPECT_TRUE(libtorch.at("cudnn").is_null());
  EXPECT_EQ(libtorch.at("settings").size(), 4U);
  EXPECT_EQ(record.at("drivers"), json({{{"name", "amdgpu"}, {"version", "6.12.12"}}}));
  EXPECT_EQ(record.at("devices")[1].at("memory_bytes"), 8573157376U);
  EXPECT_EQ(record.at("devices")[1].at("driver"), "amdgpu");
  EXPECT_EQ(record.at("devices")[0].at("memory_bytes"), 16384000000U);
  EXPECT_EQ(record.at("system"), json({{"os", "Tree Linux 7"},
                                       {"kernel", "6.10.5-tree"},
                                       {"c_library", nullptr},
                                       {"cpu", "Tree CPU 9"},
                                       {"processors", 2},
                                       {"memory_bytes", 16384000000U}}));
  EXPECT_EQ(record.at("variables"), json({{"OMP_NUM_THREADS", "2"}}));
}

TEST_F(fake_machine, cuda_of_the_build_where_no_gpu_part_is_open) {
  json engine = {{"config",
                  "PyTorch built with:\n  - Build settings: BLAS_INFO=mkl, CUDA_VERSION=13.0, "
                  "CUDNN_VERSION=9.19.0, CXX_FLAGS= -O2, \n"}};
  const json libtorch = environment_record(engine, nullptr, {}, root()).at("libtorch");
  EXPECT_EQ(libtorch.at("cuda"), "13.0");
  EXPECT_EQ(libtorch.at("cudnn"), "9.19.0");
  engine["config"] =
      "PyTorch built with:\n  - CUDA Runtime 12.9\n  - CuDNN 91.9  (built against "
      "CUDA 13.0)\n  - Build settings: X=1, CUDA_VERSION=13.0, \n";
  const json loaded = environment_record(engine, nullptr, {}, root()).at("libtorch");
  EXPECT_EQ(loaded.at("cuda"), "12.9");
  EXPECT_EQ(loaded.at("cudnn"), "9.19") << "LibTorch writes 91900 as 91.9";
}

TEST_F(fake_machine, nothing_is_invented) {
  const testing::temp_dir empty;
  json engine = engine_on_amd();
  const json record = environment_record(engine, nullptr, {}, empty.path());
  for (const auto& [name, value] : record.at("system").items()) {
    EXPECT_TRUE(value.is_null()) << name;
  }
  EXPECT_TRUE(record.at("drivers").empty());
  EXPECT_TRUE(record.at("devices")[1].at("memory_bytes").is_null());
  const json clocks = clocks_record("before", {"cpu", "cuda:0"}, engine, nullptr, empty.path());
  ASSERT_EQ(clocks.at("devices").size(), 2U);
  for (const json& device : clocks.at("devices")) {
    for (const auto& [name, value] : device.items()) {
      EXPECT_TRUE(value.is_null() || name == "device") << name;
    }
  }
}

TEST_F(fake_machine, clocks_of_amd) {
  add_amd_gpu();
  json clocks = clocks_record("after", {"cuda:0"}, engine_on_amd(), nullptr, root());
  json device = clocks.at("devices")[0];
  EXPECT_EQ(device.at("clock_mhz"), 19.0);
  EXPECT_EQ(device.at("clock_max_mhz"), 2900.0);
  EXPECT_EQ(device.at("memory_clock_mhz"), 1094.0);
  EXPECT_EQ(device.at("power_cap_w"), 120.0);
  EXPECT_EQ(device.at("power_w"), 31.0);
  EXPECT_EQ(device.at("temperature_c"), 46.0);
  EXPECT_TRUE(device.at("throttled").is_null());  // there is no table

  const auto throttled = [&] {
    return clocks_record("after", {"cuda:0"}, engine_on_amd(), nullptr, root())
        .at("devices")[0]
        .at("throttled");
  };
  hold_back(0);
  EXPECT_EQ(throttled(), json::array());
  hold_back((std::uint64_t{1} << 36U) | 1U);
  EXPECT_EQ(throttled(), json({"power", "temperature"}));
  hold_back(~std::uint64_t{0});  // the kernel's word for: this GPU does not tell
  EXPECT_TRUE(throttled().is_null());
  hold_back(1, 1);  // another table
  EXPECT_TRUE(throttled().is_null());
}

TEST_F(fake_machine, nvidia_by_file_and_by_library) {
  temp_.write("proc/driver/nvidia/version",
              "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build\n"
              "GCC version:  gcc version 12.2.0\n");
  const auto drivers = platform::gpu_drivers(root());
  ASSERT_EQ(drivers.size(), 1U);
  EXPECT_EQ(drivers[0].version, "580.95.05");

  const json engine{{"devices", {{{"device", "cuda:0"}, {"pci", "0000:1b:00.0"}}}}};
  const json asked{
      {"why", ""},
      {"driver", "580.95.05"},
      {"cards",
       {{{"pci", "0000:0a:00.0"}, {"power_cap_w", 300}},
        {{"pci", "0000:1b:00.0"}, {"power_cap_w", 700}, {"throttled", {"sync boost"}}}}}};
  const json record = clocks_record("before", {"cuda:0"}, engine, asked, root());
  EXPECT_EQ(record.at("driver"), "580.95.05");
  EXPECT_EQ(record.at("devices")[0].at("power_cap_w"), 700);
  EXPECT_EQ(record.at("devices")[0].at("throttled"), json({"sync boost"}));
  EXPECT_TRUE(record.at("devices")[0].at("governor").is_null());
  EXPECT_FALSE(record.at("devices")[0].contains("pci"));
}

TEST_F(fake_machine, clocks_of_a_cpu) {
  temp_.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "1200000\n");
  temp_.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", "3700000\n");
  temp_.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
  temp_.write("sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "3400000\n");
  temp_.write("sys/devices/system/cpu/cpu1/thermal_throttle/package_throttle_count", "17\n");
  temp_.write("sys/devices/system/cpu/cpufreq/scaling_cur_freq", "9900000\n");  // no processor
  const platform::device_clocks clocks = platform::cpu_clocks(root());
  EXPECT_EQ(clocks.clock_mhz, 3400.0);
  EXPECT_EQ(clocks.clock_max_mhz, 3700.0);
  EXPECT_EQ(clocks.governor, "powersave");
  EXPECT_EQ(clocks.throttle_count, 17U);
}

TEST_F(fake_machine, serial_numbers) {
  add_amd_gpu();
  temp_.write("etc/machine-id", "3b1f0c9d6a7e4f52\n");
  temp_.write("sys/class/dmi/id/board_serial", "Default string\n");
  temp_.write("sys/class/net/lo/address", "00:00:00:00:00:00\n");
  temp_.write("sys/class/net/eth0/address", "52:54:00:ab:cd:ef\n");
  EXPECT_EQ(
      platform::serial_numbers(root()),
      (std::vector<std::string>{"3b1f0c9d6a7e4f52", "4f2d8a91c07b33e5", "52:54:00:ab:cd:ef"}));
}

TEST(variables, those_that_rule_files_name) {
  const std::string head = "[pack]\nformat = 1\nid = \"x\"\n";
  EXPECT_EQ(variables_named_in(head + "environment = [\"OMP_*\", \"LD_PRELOAD\"]\n"),
            (std::vector<std::string>{"OMP_*", "LD_PRELOAD"}));
  // One that would ask for everything, and what is no list, name nothing.
  EXPECT_TRUE(variables_named_in(head + "environment = [\"*\", \"A*\", \"A B C\", 3]\n").empty());
  EXPECT_TRUE(variables_named_in(head + "environment = \"OMP_*\"\n").empty());
  EXPECT_TRUE(variables_named_in("[pack\n").empty());
}

TEST(variables, of_files_that_may_be_used) {
  const testing::temp_dir temp;
  const auto file = [&](const char* name, const std::string& variable) {
    surveyed_file one;
    one.file = temp.write(name, "[pack]\nformat = 1\nid = \"x\"\nenvironment = [\"" + variable +
                                    "\"]\n\n[[diagnosis]]\nthis is not read\n");
    return one;
  };
  surveyed_file off = file("off.assay.toml", "OFF_VARIABLE");
  off.status = "off";
  surveyed_file other = file("other.toml", "OTHER_VARIABLE");
  const std::vector<surveyed_file> files{file("b.assay.toml", "ZED_*"),
                                         file("a.assay.toml", "ABLE_*"), off, other};
  EXPECT_EQ(watched_variables(files, true), (std::vector<std::string>{"ABLE_*", "ZED_*"}));
  std::filesystem::permissions(temp.path() / "b.assay.toml", std::filesystem::perms::others_write,
                               std::filesystem::perm_options::add);
  EXPECT_EQ(watched_variables(files, false), (std::vector<std::string>{"ABLE_*"}));
}

TEST(variables, secrets_and_others_stay) {
  const std::map<std::string, std::string> all{{"OMP_NUM_THREADS", "2"},
                                               {"MIOPEN_API_KEY", "hunter2"},
                                               {"MIOPEN_KEYWORDS", "a"},
                                               {"HOME", "/home/x"}};
  EXPECT_EQ(
      watched_in(all, {"OMP_*", "MIOPEN_*"}),
      (std::map<std::string, std::string>{
          {"OMP_NUM_THREADS", "2"}, {"MIOPEN_API_KEY", "<hidden>"}, {"MIOPEN_KEYWORDS", "a"}}));
}

}  // namespace
}  // namespace assay
