// SPDX-License-Identifier: Apache-2.0
#include "host/common/plugin_stamp.hpp"

#include <assay/abi.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "host/assay/sha256.hpp"
#include "temp_dir.hpp"

namespace assay {
namespace {

assay_stamp acme() {
  assay_stamp stamp{};
  std::memcpy(stamp.magic, ASSAY_STAMP_MAGIC, sizeof stamp.magic);
  stamp.struct_size = sizeof stamp;
  stamp.abi_major = 1;
  stamp.abi_minor = 3;
  std::strcpy(stamp.id, "com.acme.ops");
  std::strcpy(stamp.version, "2.1");
  std::strcpy(stamp.vendor, "Acme");
  std::strcpy(stamp.accelerator, "rocm");
  stamp.brings = ASSAY_BRINGS_DIAGNOSTICS;
  return stamp;
}

std::string bytes_of(const assay_stamp& stamp) {
  return {reinterpret_cast<const char*>(&stamp), sizeof stamp};
}

TEST(plugin_stamp, of_a_real_plugin) {
  const stamp_reading read = read_stamp(ASSAY_TEST_PLUGIN);
  ASSERT_TRUE(read.stamp) << read.fault;
  EXPECT_EQ(read.stamp->id, "good");
  EXPECT_EQ(read.stamp->version, "1.0");
  EXPECT_EQ(read.stamp->vendor, "assay tests");
  EXPECT_EQ(read.stamp->accelerator, "any");
  EXPECT_EQ(read.stamp->abi_major, unsigned{ASSAY_ABI_MAJOR});
  EXPECT_EQ(read.stamp->abi_minor, unsigned{ASSAY_ABI_MINOR});
  EXPECT_FALSE(read.stamp->only_diagnostics());
}

TEST(plugin_stamp, of_a_real_plugin_that_was_cut_off) {
  std::ifstream in(ASSAY_TEST_PLUGIN, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const std::size_t at = whole.find(ASSAY_STAMP_MAGIC);
  ASSERT_NE(at, std::string::npos);
  EXPECT_FALSE(find_stamp(whole.substr(0, at)).stamp);
  EXPECT_EQ(find_stamp(whole.substr(0, at)).fault, "it holds no plugin stamp");
  EXPECT_EQ(find_stamp(whole.substr(0, at + 100)).fault, "its plugin stamp is damaged");
  EXPECT_TRUE(find_stamp(whole.substr(at)).stamp) << "it lies where it likes";
}

TEST(plugin_stamp, anywhere_in_a_file_of_any_size) {
  const testing::temp_dir folder;
  // At every place around the border of what is read at a time.
  for (const int shift : {-200, -157, -8, -4, -1, 0, 1}) {
    const std::size_t before = static_cast<std::size_t>((1 << 18) + shift);
    for (const std::size_t after : {0U, 5000U, 600000U}) {
      const auto file = folder.write(
          "x.assay.so", std::string(before, 'A') + bytes_of(acme()) + std::string(after, 'S'));
      const stamp_reading read = read_stamp(file);
      ASSERT_TRUE(read.stamp) << shift << ' ' << after << ' ' << read.fault;
      EXPECT_EQ(read.stamp->id, "com.acme.ops");
      EXPECT_TRUE(read.stamp->only_diagnostics());
    }
  }
}

TEST(plugin_stamp, damaged_ones_are_none) {
  const auto fault = [](auto&& change) {
    assay_stamp stamp = acme();
    change(stamp);
    const stamp_reading read = find_stamp("xyz" + bytes_of(stamp));
    return read.stamp ? "" : read.fault;
  };
  const std::string damaged = "its plugin stamp is damaged";
  EXPECT_EQ(fault([](assay_stamp&) {}), "");
  EXPECT_EQ(fault([](assay_stamp& s) { s.struct_size = 16; }), damaged);
  EXPECT_EQ(fault([](assay_stamp& s) { s.struct_size = 1U << 20; }), damaged);
  EXPECT_EQ(fault([](assay_stamp& s) { s.struct_size = sizeof s + 1; }), damaged) << "cut off";
  EXPECT_EQ(fault([](assay_stamp& s) { s.abi_major = 0; }), damaged);
  EXPECT_EQ(fault([](assay_stamp& s) { s.id[0] = '\0'; }), damaged);
  EXPECT_EQ(fault([](assay_stamp& s) { s.id[0] = 'A'; }), damaged);
  EXPECT_EQ(fault([](assay_stamp& s) { std::memset(s.vendor, 'v', sizeof s.vendor); }), damaged);
  EXPECT_EQ(fault([](assay_stamp& s) { s.magic[0] = 'B'; }), "it holds no plugin stamp");
  EXPECT_EQ(find_stamp("").fault, "it holds no plugin stamp");
  EXPECT_EQ(read_stamp("/no/such/file").fault, "it cannot be read");
}

TEST(plugin_stamp, of_minor_0_is_shorter) {
  assay_stamp stamp = acme();
  stamp.struct_size = offsetof(assay_stamp, brings);
  const std::string bytes = bytes_of(stamp).substr(0, stamp.struct_size);
  ASSERT_TRUE(find_stamp(bytes).stamp);
  EXPECT_EQ(find_stamp(bytes + "\2\2\2\2").stamp->brings, 0U) << "what lies behind is not its own";
}

TEST(plugin_stamp, two_different_ones_are_none) {
  assay_stamp other = acme();
  EXPECT_TRUE(find_stamp(bytes_of(acme()) + bytes_of(other)).stamp) << "a copy says the same";
  std::strcpy(other.id, "norm");
  const stamp_reading read = find_stamp(bytes_of(acme()) + bytes_of(other));
  EXPECT_FALSE(read.stamp);
  EXPECT_EQ(read.fault,
            "it holds several plugin stamps ('com.acme.ops' 2.1 and 'norm' 2.1); a plugin has one");
}

TEST(sha256, of_known_texts) {
  const testing::temp_dir folder;
  // FIPS 180-2, appendix B.
  EXPECT_EQ(sha256_of(folder.write("abc", "abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_of(folder.write("million", std::string(1000000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  EXPECT_EQ(sha256_of(folder.write("empty", "")),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_of(folder.path()), "") << "a folder";
  EXPECT_EQ(sha256_of(folder.path() / "none"), "");
}

}  // namespace
}  // namespace assay
