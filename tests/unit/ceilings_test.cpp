// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "evidence_run.hpp"
#include "golden.hpp"
#include "host/assay/ceilings_cache.hpp"
#include "host/assay/datasheet_peaks.hpp"
#include "temp_dir.hpp"

namespace assay {
namespace {

using testing_support::ceilings_record;
using testing_support::engine_record;
using testing_support::file_text;
using testing_support::json;

json key_of(std::size_t device) {
  const json engine = engine_record();
  return ceilings_cache::key(engine["devices"][device], engine);
}

TEST(ceilings_cache_test, keeps_by_device_and_libtorch) {
  const testing::temp_dir temp;
  const ceilings_cache cache(temp.path() / "made" / "assay");
  EXPECT_TRUE(cache.find(key_of(1)).is_null());
  EXPECT_EQ(cache.keep(key_of(1), ceilings_record()), "");
  json expected = ceilings_record();
  expected["state"] = "cached";
  EXPECT_EQ(cache.find(key_of(1)), expected);
  EXPECT_TRUE(cache.find(key_of(0)).is_null());
  json other = engine_record();
  other["torch_version"] = "2.12.0";
  EXPECT_TRUE(cache.find(ceilings_cache::key(other["devices"][1], other)).is_null());
  const auto files = std::distance(std::filesystem::directory_iterator(temp.path() / "made/assay"),
                                   std::filesystem::directory_iterator());
  EXPECT_EQ(files, 1) << "nothing half-written stays behind";
}

TEST(ceilings_cache_test, a_file_that_is_not_sound_counts_as_none) {
  const testing::temp_dir temp;
  const ceilings_cache cache(temp.path());
  const auto file = cache.file_of(key_of(1));
  ASSERT_EQ(cache.keep(key_of(1), ceilings_record()), "");
  const std::string whole = file_text(file);
  const auto found_with = [&](const std::string& text) {
    temp.write(file.filename(), text);
    return !cache.find(key_of(1)).is_null();
  };
  EXPECT_TRUE(found_with(whole));
  EXPECT_FALSE(found_with(whole.substr(0, whole.size() / 2)));
  EXPECT_FALSE(found_with(""));
  EXPECT_FALSE(found_with("[]"));
  const auto with = [&](const json& key, const json& record) {
    return found_with(json{{"key", key}, {"ceilings", record}}.dump());
  };
  EXPECT_TRUE(with(key_of(1), ceilings_record()));
  EXPECT_FALSE(with(key_of(0), ceilings_record()));  // two keys of one hash
  EXPECT_FALSE(with(key_of(1), ceilings_record({{"state", "unknown"}})));
  EXPECT_FALSE(with(key_of(1), ceilings_record({{"copy_gb_per_s", "fast"}})));
  EXPECT_FALSE(with(key_of(1), ceilings_record({{"launch_us", -1.0}})));
  EXPECT_FALSE(with(key_of(1), ceilings_record({{"matrix_tflop_per_s", nullptr}})));
}

TEST(ceilings_cache_test, what_no_device_reaches_counts_as_none_and_is_not_kept) {
  const testing::temp_dir temp;
  const ceilings_cache cache(temp.path());
  json rates = ceilings_record()["matrix_tflop_per_s"];
  rates["float32"] = 800.0 / 60.0;  // a sixtieth of float16: something else had the machine
  for (const json& changes : {json{{"copy_gb_per_s", 1e30}}, json{{"launch_us", 1e12}},
                              json{{"launch_us", 0.0}}, json{{"matrix_tflop_per_s", rates}}}) {
    const json record = ceilings_record(changes);
    EXPECT_NE(cache.keep(key_of(1), record), "") << changes;
    temp.write(cache.file_of(key_of(1)).filename(),
               json{{"key", key_of(1)}, {"ceilings", record}}.dump());
    EXPECT_TRUE(cache.find(key_of(1)).is_null()) << changes;
  }
  EXPECT_EQ(cache.keep(key_of(1), ceilings_record()), "");
}

TEST(ceilings_cache_test, a_folder_in_a_files_place_counts_as_none) {
  const testing::temp_dir temp;
  const ceilings_cache cache(temp.path());
  std::filesystem::create_directory(cache.file_of(key_of(1)));
  EXPECT_TRUE(cache.find(key_of(1)).is_null());
  EXPECT_NE(cache.keep(key_of(1), ceilings_record()).find("cannot write"), std::string::npos);
}

TEST(ceilings_cache_test, of_two_measurements_the_better_one_counts) {
  json slower = ceilings_record({{"copy_gb_per_s", 100.0}, {"launch_us", 9.0}});
  slower["matrix_tflop_per_s"]["float32"] = nullptr;
  slower["matrix_tflop_per_s"]["bfloat16"] = 900.0;
  const json best = best_of(slower, ceilings_record());
  EXPECT_EQ(best["copy_gb_per_s"], 4000.0);
  EXPECT_EQ(best["launch_us"], 5.0);
  EXPECT_EQ(best["matrix_tflop_per_s"]["float32"], 50.0);
  EXPECT_EQ(best["matrix_tflop_per_s"]["bfloat16"], 900.0);
}

TEST(ceilings_cache_test, a_folder_that_cannot_be_written_is_a_note) {
  EXPECT_NE(ceilings_cache({}).keep(key_of(1), ceilings_record()), "");
  EXPECT_TRUE(ceilings_cache({}).find(key_of(1)).is_null());
  const testing::temp_dir temp;
  const ceilings_cache cache(temp.write("file", "") / "assay");
  EXPECT_NE(cache.keep(key_of(1), ceilings_record()).find("cannot write"), std::string::npos);
}

TEST(datasheet_peaks_test, are_found_by_architecture_and_name) {
  const auto* peak = find_datasheet_peak("gfx1032", "AMD Radeon RX 6600");
  ASSERT_NE(peak, nullptr);
  EXPECT_EQ(peak->memory_gb_per_s, 224);
  EXPECT_EQ(find_datasheet_peak("gfx1032", "AMD Radeon RX 6600 XT")->memory_gb_per_s, 256);
  EXPECT_EQ(
      find_datasheet_peak("gfx90a:sramecc+:xnack-", "AMD Instinct MI250X / MI250")->name_fragment,
      "MI250X");
  EXPECT_EQ(find_datasheet_peak("sm_90", "NVIDIA H200")->memory_gb_per_s, 4800);
  EXPECT_EQ(find_datasheet_peak("gfx1032", "AMD Radeon Graphics"), nullptr);
  EXPECT_EQ(find_datasheet_peak("gfx0000 (simulated)", "simulated RX 6600"), nullptr);
  EXPECT_EQ(find_datasheet_peak("", "NVIDIA H200"), nullptr);
}

TEST(datasheet_peaks_test, a_dtype_without_a_number_has_none) {
  const auto* peak = find_datasheet_peak("gfx1032", "AMD Radeon RX 6600");
  EXPECT_EQ(datasheet_matrix_rate(*peak, "float16"), 17.9);
  EXPECT_EQ(datasheet_matrix_rate(*peak, "bfloat16"), std::nullopt);
  EXPECT_EQ(datasheet_matrix_rate(*peak, "tf32"), std::nullopt);
  EXPECT_EQ(datasheet_matrix_rate(*find_datasheet_peak("sm_90", "NVIDIA H200"), "tf32"), 494.7);
}

}  // namespace
}  // namespace assay
