// SPDX-License-Identifier: Apache-2.0
#include "host/assay/plugins_lock.hpp"

#include <gtest/gtest.h>

#include "host/assay/errors.hpp"
#include "host/assay/sha256.hpp"
#include "temp_dir.hpp"

namespace assay {
namespace {

const std::string hash_a(64, 'a');
const std::string hash_b(64, 'b');

class plugins_lock_test : public ::testing::Test {
 protected:
  plugins_lock read(const std::string& text) {
    return plugins_lock::read(folder_.write("lock.toml", text), "--plugins-lock");
  }
  std::string fault(const std::string& text) {
    try {
      read(text);
    } catch (const usage_error& error) {
      return error.what();
    }
    return "";
  }

  testing::temp_dir folder_;
};

TEST_F(plugins_lock_test, what_is_written_is_read) {
  const plugins_lock written({{"com.acme.ops", "1.0", "Acme \"Inc\"", "acme.assay.so", hash_a, {}},
                              {"norm", "0.1", "", "", hash_b, {{"libnorm.so", hash_a}}}});
  const plugins_lock lock = read(written.text());
  ASSERT_EQ(lock.entries().size(), 2U);
  EXPECT_EQ(lock.entries()[0].vendor, "Acme \"Inc\"");
  EXPECT_EQ(lock.entries()[1].libraries.at(0).sha256, hash_a);
  EXPECT_EQ(lock.text(), written.text());
}

TEST_F(plugins_lock_test, only_what_is_pinned_may_be_opened) {
  const plugins_lock lock =
      read(plugins_lock({{"norm", "0.1", "", "norm.assay.so", hash_a, {}}}).text());
  EXPECT_EQ(lock.refusal("/p/norm.assay.so", "norm", "0.1", hash_a), "");
  EXPECT_EQ(lock.refusal("/p/renamed.assay.so", "norm", "0.1", hash_a), "")
      << "it is the same file";
  const std::string other = lock.refusal("/p/norm.assay.so", "norm", "0.1", hash_b);
  EXPECT_NE(other.find("has norm 0.1 with another SHA-256 (aaaaaaaaaaaa..., and this file's is "
                       "bbbbbbbbbbbb...)"),
            std::string::npos)
      << other;
  EXPECT_NE(lock.refusal("/p/x.assay.so", "x", "1", hash_b).find("it is not in "),
            std::string::npos);
  EXPECT_NE(lock.refusal("/p/norm.assay.so", "norm", "0.2", hash_a).find("write the lock again"),
            std::string::npos)
      << "a lock that contradicts the file";
  EXPECT_NE(lock.refusal("/p/norm.assay.so", "norm", "0.1", "").find("cannot be read"),
            std::string::npos);
  EXPECT_NE(lock.refusal("/p/norm.assay.so", "", "", hash_b).find("another SHA-256"),
            std::string::npos)
      << "known by its file's name alone";
  EXPECT_EQ(read("format = 1").entries().size(), 0U);
  EXPECT_NE(read("format = 1").refusal("/p/norm.assay.so", "norm", "0.1", hash_a), "");
}

TEST_F(plugins_lock_test, operator_libraries_are_pinned_with_their_plugin) {
  const auto library = folder_.write("libops.so", "code");
  const plugins_lock lock({{"a", "1", "", "", hash_a, {{"libops.so", sha256_of(library)}}},
                           {"b", "1", "", "", hash_b, {}}});
  EXPECT_EQ(lock.library_refusal(hash_a, library), "");
  EXPECT_NE(lock.library_refusal(hash_b, library).find("is not, with its SHA-256, in"),
            std::string::npos);
  folder_.write("libops.so", "other code");
  EXPECT_NE(lock.library_refusal(hash_a, library), "");
  EXPECT_NE(lock.library_refusal(hash_a, folder_.path() / "none.so").find("cannot be read"),
            std::string::npos);
}

TEST_F(plugins_lock_test, mistakes_name_their_line) {
  const std::string head = "format = 1\n[[plugin]]\nid = \"x\"\nversion = \"1\"\n";
  EXPECT_NE(fault("").find("a lock needs format = 1"), std::string::npos) << fault("");
  EXPECT_NE(fault("format = 1\nplugin = 3\n").find(":2: the plugins are written [[plugin]]"),
            std::string::npos);
  EXPECT_NE(fault(head).find("plugin 'x' needs sha256"), std::string::npos);
  EXPECT_NE(fault(head + "sha256 = \"abc\"\n").find(":5: plugin 'x': sha256 is 64 digits"),
            std::string::npos)
      << fault(head + "sha256 = \"abc\"\n");
  EXPECT_NE(fault(head + "sah256 = \"abc\"\n").find("did you mean 'sha256'?"), std::string::npos);
  EXPECT_NE(fault("format = 1\n[[plugin\n").find(":2: "), std::string::npos);
  EXPECT_NE(fault("x = [}").find("mend it"), std::string::npos) << "a broken assertion of toml++";
}

}  // namespace
}  // namespace assay
