// SPDX-License-Identifier: Apache-2.0
#include "host/assay/list_command.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "golden.hpp"
#include "host/assay/errors.hpp"
#include "host/assay/list_why.hpp"

namespace assay {
namespace {

using nlohmann::json;
using testing_support::expect_golden;

json plugin(const char* id, const char* status, const char* reason) {
  const bool loaded = std::string(status) == "loaded";
  json none = json::array();
  json record{{"record", "plugin"},
              {"file", std::string("/plugins/") + id + ".assay.so"},
              {"status", status},
              {"reason", reason == nullptr ? json() : json(reason)},
              {"id", id},
              {"version", "1.0"},
              {"vendor", "assay project"},
              {"accelerator", "any"},
              {"abi", "1.0"},
              {"categories", none},
              {"probes", none},
              {"classifiers", none},
              {"check_count", loaded ? 2 : 0}};
  if (loaded) {
    record["categories"].push_back({{"name", id}, {"summary", std::string("all about ") + id}});
  }
  return record;
}

json check(const char* category, const char* name) {
  return {{"record", "check"},    {"check", std::string(category) + "/" + name},
          {"category", category}, {"name", name},
          {"plugin", category},   {"dtypes", {"float32", "float16"}}};
}

catalogue sample() {
  catalogue all;
  all.plugins = {plugin("norm", "loaded", nullptr), plugin("conv", "loaded", nullptr),
                 plugin("broken", "refused", "built for ABI 2, this assay has ABI 1"),
                 plugin("stray", "not_a_plugin", "it exports no assay_plugin_stamp")};
  all.plugins.push_back(plugin("com.acme.ops", "off", "--disable 'plugin:com.acme.*'"));
  all.plugins[0]["sha256"] = std::string(64, 'a');
  all.plugins[0]["options"] = {{{"name", "eps"},
                                {"kind", "real"},
                                {"default", 1e-5},
                                {"value", 0.5},
                                {"low", 0.0},
                                {"high", 1.0},
                                {"choices", json::array()},
                                {"summary", "epsilon of every norm"}},
                               {{"name", "mode"},
                                {"kind", "text"},
                                {"default", "fast"},
                                {"value", "exact"},
                                {"low", nullptr},
                                {"high", nullptr},
                                {"choices", {"fast", "exact"}},
                                {"summary", "how it sums"}}};
  all.plugins[0]["probes"].push_back({{"id", "rocm.kfd"}, {"summary", "is /dev/kfd readable?"}});
  all.plugins[0]["classifiers"].push_back({{"id", "rocm.hiprtc"}, {"summary", "HIPRTC's words"}});
  all.checks = {check("norm", "layer_norm"), check("norm", "rms_norm"), check("conv", "conv1d"),
                check("conv", "conv2d")};
  all.rule_files = {{{"file", "/plugins/diag_acme.assay.toml"},
                     {"id", "diag_acme"},
                     {"version", "1.0"},
                     {"vendor", "Acme"},
                     {"status", "read"},
                     {"sha256", std::string(64, 'b')},
                     {"diagnoses", 2},
                     {"rules", 3}},
                    {{"file", "/plugins/bad.assay.toml"},
                     {"status", "refused"},
                     {"reason", "line 3: a [[diagnosis]] needs 'code'"}}};
  return all;
}

class list_test : public testing::Test {
 protected:
  list_test() {
    here_.libexec_dir = std::filesystem::path(testing::TempDir()) / "assay_list_test_no_engines";
    std::filesystem::create_directories(here_.libexec_dir);
  }

  std::string listed(const run_options& options, const catalogue& all = sample()) {
    std::ostringstream out;
    status_ = list_command(all, here_, options, out);
    return out.str();
  }

  installation here_;
  int status_ = -1;
};

TEST_F(list_test, everything) {
  expect_golden("list.txt", listed({}));
  EXPECT_EQ(status_, exit_status::tool);
}

TEST_F(list_test, what_the_filters_leave) {
  run_options options;
  options.enable = {"conv", "norm/rms_norm[float16]"};
  options.disable = {"conv/conv1d"};
  expect_golden("list_filtered.txt", listed(options));
}

TEST_F(list_test, no_refused_plugin) {
  catalogue all = sample();
  all.plugins.erase(all.plugins.begin() + 2);
  all.rule_files.pop_back();
  listed({}, all);
  EXPECT_EQ(status_, exit_status::ok);
}

TEST_F(list_test, why) {
  run_options options;
  options.enable = {"conv", "norm/rms_norm[float16]"};
  options.disable = {"conv/conv1d", "plugin:com.acme.*"};
  std::ostringstream out;
  list_why(sample(), options, false, out);
  expect_golden("list_why.txt", out.str());
}

TEST_F(list_test, why_a_category_is_off_says_what_decides_most_of_it_first) {
  run_options options;
  options.enable = {"norm"};
  options.disable = {"conv/*[float16]", "conv/conv1d"};
  std::ostringstream out;
  list_why(sample(), options, false, out);
  EXPECT_NE(out.str().find("  off  --disable 'conv/*[float16]' (2 of 4); --disable 'conv/conv1d' "
                           "(1 of 4); --enable names others (1 of 4)\n"),
            std::string::npos)
      << out.str();
}

TEST_F(list_test, off_changes_no_status) {
  catalogue all = sample();
  all.plugins.erase(all.plugins.begin() + 2);
  all.rule_files = {
      {{"file", "/p/x.assay.toml"}, {"status", "off"}, {"reason", "--disable 'vendor:*'"}}};
  const std::string text = listed({}, all);
  EXPECT_EQ(status_, exit_status::ok);
  EXPECT_NE(text.find("/p/x.assay.toml: off: --disable 'vendor:*'"), std::string::npos) << text;
}

}  // namespace
}  // namespace assay
