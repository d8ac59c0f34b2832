// SPDX-License-Identifier: Apache-2.0
//
// Packs of another language and of another standard library, through the C interface alone.
#include <assay/abi.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "fake_registrar.hpp"

namespace {

using assay::test::fake_registrar;
using assay::test::fake_sink;

struct opened {
  const assay_stamp* stamp = nullptr;
  assay_plugin_entry_fn entry = nullptr;
};

// Never closed: a plugin is never unloaded.
opened open(const std::string& file) {
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    ADD_FAILURE() << dlerror();
    return {};
  }
  return {static_cast<const assay_stamp*>(dlsym(library, "assay_plugin_stamp")),
          reinterpret_cast<assay_plugin_entry_fn>(dlsym(library, "assay_plugin_entry"))};
}

assay_host this_host() { return {sizeof(assay_host), ASSAY_ABI_MAJOR, ASSAY_ABI_MINOR, "0.0.0"}; }

TEST(packs, one_in_c_registers_its_check) {
  const opened pack = open(TEST_PACK_C);
  ASSERT_NE(pack.stamp, nullptr);
  ASSERT_NE(pack.entry, nullptr);
  EXPECT_EQ(std::string(pack.stamp->magic, 8), ASSAY_STAMP_MAGIC);
  EXPECT_EQ(pack.stamp->struct_size, sizeof(assay_stamp));
  EXPECT_STREQ(pack.stamp->id, "test.c_pack");

  fake_registrar got;
  const assay_host host = this_host();
  ASSERT_EQ(pack.entry(&host, got.table()), 0);
  ASSERT_EQ(got.checks.size(), 1u);
  EXPECT_EQ(got.checks[0].name, "add");
  EXPECT_EQ(got.checks[0].inputs.at(1).sizes, (std::vector<std::int64_t>{128, 512}));
  EXPECT_EQ(got.checks[0].calls.at(0).op, "aten::add.Tensor");
  EXPECT_EQ(got.checks[0].calls.at(0).arguments.at(2).argument, "alpha");

  fake_registrar full;
  full.refuse("check", "no room");
  EXPECT_NE(pack.entry(&host, full.table()), 0);
  EXPECT_EQ(full.failures, (std::vector<std::string>{"no room"}));
}

TEST(packs, one_with_libcxx_registers_and_answers) {
  if (!std::filesystem::exists(TEST_PACK_LIBCXX)) {
    GTEST_SKIP() << "no clang++ with libc++ here";
  }
  const opened pack = open(TEST_PACK_LIBCXX);
  ASSERT_NE(pack.stamp, nullptr);
  ASSERT_NE(pack.entry, nullptr);
  EXPECT_STREQ(pack.stamp->id, "test.libcxx_pack");

  fake_registrar got;
  const assay_host host = this_host();
  ASSERT_EQ(pack.entry(&host, got.table()), 0);
  ASSERT_EQ(got.checks.size(), 1u);
  EXPECT_EQ(got.checks[0].calls.size(), 2u);

  fake_sink fact;
  ASSERT_EQ(got.probes.size(), 1u);
  EXPECT_EQ(got.probes[0].run(got.probes[0].self, fact.table()), 0);
  EXPECT_EQ(fact.pairs.at(0).second, "yes");
  EXPECT_EQ(fact.pairs.at(1).second.substr(0, 7), "libc++ ");

  assay_failure failure{};
  failure.struct_size = sizeof failure;
  failure.check = "libcxx_pack/mul_add[float32]";
  failure.error_text = "planted";
  fake_sink answer;
  ASSERT_EQ(got.classifiers.size(), 1u);
  EXPECT_EQ(got.classifiers[0].classify(got.classifiers[0].self, &failure, answer.table()), 0);
  EXPECT_EQ(answer.pairs.at(0), (std::pair<std::string, std::string>{"code", "test_failure"}));

  fake_registrar full;
  full.refuse("check", "no room");
  EXPECT_NE(pack.entry(&host, full.table()), 0);
  EXPECT_EQ(full.failures, (std::vector<std::string>{"no room"}));
}

}  // namespace
