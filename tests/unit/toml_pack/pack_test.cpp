// SPDX-License-Identifier: Apache-2.0
//
// What a good TOML pack becomes.
#include "packs.hpp"

namespace {

using namespace assay;
using namespace assay::testing;
using nlohmann::json;

TEST(toml_pack, head) {
  const auto pack = worker::read_toml_pack(
      "acme.assay.toml",
      "[pack]\nformat = 1\nid = \"com.acme-ops\"\nversion = \"1.0\"\nvendor = \"Acme\"\n"
      "accelerator = \"rocm\"\nload_library = [\"libfoo_ops.so\", \"/opt/bar.so\"]\n"
      "needs = [{ torch_at_least = \"2.7\" }, { architectures = \"gfx9*\" }]\n"
      "[[category]]\nname = \"a\"\n");
  ASSERT_TRUE(pack);
  EXPECT_EQ(pack->id, "com.acme-ops");
  EXPECT_EQ(pack->accelerator, "rocm");
  EXPECT_EQ(pack->libraries, (std::vector<std::string>{"libfoo_ops.so", "/opt/bar.so"}));
  ASSERT_EQ(pack->needs.size(), 2U);
  EXPECT_EQ(pack->needs[0].torch_at_least, "2.7");
  EXPECT_EQ(pack->categories, (std::vector<std::pair<std::string, std::string>>{{"a", ""}}));
}

TEST(toml_pack, rules_alone_are_none) {
  EXPECT_FALSE(worker::read_toml_pack("r.assay.toml", "[[diagnosis]]\ncode = \"X\"\n"));
}

TEST(toml_pack, the_least_that_a_check_needs) {
  const json check = read_check("calls = ['aten::rand([4])']");
  EXPECT_EQ(check["check"], "acme/one");
  EXPECT_EQ(check["source"], "acme.assay.toml:9");
  EXPECT_EQ(check["plan"][0]["source"], "acme.assay.toml:11");
  EXPECT_EQ(check["inputs"], json::array());
  EXPECT_EQ(check["dtypes"], json({"float32", "float16", "bfloat16", "float64"}));
  EXPECT_EQ(check["cost"], nullptr);
  EXPECT_EQ(check["accuracy"]["roundings"], 16.0);
  EXPECT_EQ(check["large"], nullptr);
  EXPECT_EQ(check["needs"], nullptr);
  EXPECT_EQ(check["summary"], nullptr);
  EXPECT_EQ(check["weight"], 0);
}

TEST(toml_pack, inputs) {
  const json inputs = read_check(R"(
sizes = { m = 4, k = 3 }
inputs = [
  { shape = ["m", "2*k"] },
  { shape = [] , dtype = "float64" },
  { shape = ["m"], fill = "index", range = [0, "k"] },
  { shape = [2, 2], fill = "distinct", range = [0, 9], dtype = "int32" },
  { shape = ["m", "k"], fill = "mask" },
  { shape = ["m", "k"], fill = "mask", share = 0.25 },
  { shape = [4], fill = "uniform", range = [-0.5, 2.5], strides = [2] },
  { shape = [0, 3], strides = ["k", 1] },
]
calls = ['aten::relu(in0)'])")["inputs"];
  const auto input = [](json dtype, const char* fill, json shape, double low, double high,
                        json strides) {
    return json{{"dtype", std::move(dtype)},
                {"fill", fill},
                {"sizes", std::move(shape)},
                {"low", low},
                {"high", high},
                {"strides", std::move(strides)}};
  };
  EXPECT_EQ(inputs[0], input(nullptr, "normal", {4, 6}, 0, 0, nullptr));
  EXPECT_EQ(inputs[1], input("float64", "normal", json::array(), 0, 0, nullptr));
  EXPECT_EQ(inputs[2], input("int64", "index", json::array_t{4}, 0, 3, nullptr));
  EXPECT_EQ(inputs[3], input("int32", "distinct", {2, 2}, 0, 9, nullptr));
  EXPECT_EQ(inputs[4], input("bool", "mask", {4, 3}, 0.5, 0, nullptr));
  EXPECT_EQ(inputs[5], input("bool", "mask", {4, 3}, 0.25, 0, nullptr));
  EXPECT_EQ(inputs[6], input(nullptr, "uniform", json::array_t{4}, -0.5, 2.5, json::array_t{2}));
  EXPECT_EQ(inputs[7], input(nullptr, "normal", {0, 3}, 0, 0, {3, 1}));
}

TEST(toml_pack, cost_accuracy_paths_and_needs) {
  const json check = read_check(R"(
summary = "one line"
weight = 12
sizes = { m = 4, k = 3 }
dtypes = ["bfloat16", "float32"]
inputs = [{ shape = ["m", "k"] }, { shape = ["k"] }]
calls = ['r0 = aten::mv(in0, in1)', 'aten::relu(r0)']
reference = ['aten::mv(in0, in1)']
cost = { elements = "in0 + in1 + m", bytes = 8, matrix_flops = "2*m*k" }
accuracy = { roundings = 4.5, terms = "k", contraction = true, picks_input = 1, picks_dimension = -1 }
paths = [
  { name = "slow", grade = "slow", operator = "aten::_math*" },
  { name = "blas", grade = "acceptable", kernel = "*gemm*" },
]
needs = { accelerator = "rocm,cuda", torch_below = "2.12", free_memory_bytes = 1000, dtype_arithmetic = true })");
  EXPECT_EQ(check["summary"], "one line");
  EXPECT_EQ(check["weight"], 12);
  EXPECT_EQ(check["dtypes"], json({"bfloat16", "float32"}));
  EXPECT_EQ(check["reference"].size(), 1U);
  EXPECT_EQ(check["cost"],
            json({{"elements", 19.0}, {"bytes", 8.0}, {"flops", 24.0}, {"matrix", true}}));
  EXPECT_EQ(check["accuracy"], json({{"exact", false},
                                     {"contraction", true},
                                     {"incomparable", false},
                                     {"roundings", 4.5},
                                     {"terms", 3.0},
                                     {"picks_input", 1},
                                     {"picks_dimension", -1}}));
  EXPECT_EQ(check["paths"][0], json({{"name", "slow"},
                                     {"grade", "slow"},
                                     {"source", "operator"},
                                     {"pattern", "aten::_math*"}}));
  EXPECT_EQ(check["paths"][1]["source"], "kernel");
  EXPECT_EQ(check["needs"], json({{"accelerator", "rocm,cuda"},
                                  {"architectures", nullptr},
                                  {"torch_at_least", nullptr},
                                  {"torch_below", "2.12"},
                                  {"free_memory_bytes", 1000},
                                  {"dtype_arithmetic", true}}));
  EXPECT_EQ(
      read_check(one_input +
                 "calls = ['aten::relu(in0)']\naccuracy = { exact = true }")["accuracy"]["exact"],
      true);
}

TEST(toml_pack, large_by_other_numbers) {
  const json check = read_check(R"(
sizes = { m = 4, k = 3 }
large = { m = 8000 }
inputs = [{ shape = ["m", "k"] }, { shape = [2], fill = "index", range = [0, "m"] }]
calls = ['aten::sum.dim_IntList(in0, [m], keepdim=(m > 5))']
cost = { elements = "in0", flops = "m" }
accuracy = { terms = "m*k" })");
  const json& large = check["large"];
  EXPECT_EQ(check["inputs"][0]["sizes"], json({4, 3}));
  EXPECT_EQ(large["inputs"][0]["sizes"], json({8000, 3}));
  EXPECT_EQ(large["inputs"][1]["high"], 8000.0);
  EXPECT_EQ(large["plan"][0]["arguments"][1]["value"], json::array_t{8000});
  EXPECT_EQ(check["plan"][0]["arguments"][2]["value"], 0);
  EXPECT_EQ(large["plan"][0]["arguments"][2]["value"], 1);
  EXPECT_EQ(large["cost"]["elements"], 24000.0);
  EXPECT_EQ(large["cost"]["flops"], 8000.0);
  EXPECT_EQ(large["accuracy"]["terms"], 24000.0);
}

TEST(toml_pack, large_form_has_all_of_its_own) {
  const json check = read_check(one_input + R"(calls = ['aten::relu(in0)']
cost = { elements = 24 }
accuracy = { exact = true }
[check.large_form]
sizes = { n = 100 }
inputs = [{ shape = ["n", 3] }]
calls = ['aten::relu(in0)', 'aten::relu(r0)'])");
  EXPECT_EQ(check["large"]["inputs"][0]["sizes"], json({100, 3}));
  EXPECT_EQ(check["large"]["plan"].size(), 2U);
  EXPECT_EQ(check["large"]["cost"], nullptr);
  EXPECT_EQ(check["large"]["accuracy"]["exact"], false);
}

TEST(toml_pack, a_file_may_hold_rules_too) {
  EXPECT_EQ(read_checks(one_check(one_input + "calls = ['aten::relu(in0)']") +
                        "[[diagnosis]]\ncode = \"ACME-OLD\"\n[[classifier]]\nid = \"a\"\n")
                .size(),
            1U);
}

}  // namespace
