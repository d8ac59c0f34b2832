// SPDX-License-Identifier: Apache-2.0
//
// assay check-plugin: what is worked out from records alone.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "host/assay/conformance/examine.hpp"

namespace assay::conformance {
namespace {

using nlohmann::json;

json tensor(const std::vector<int>& shape, double bytes = 0.0) {
  return {{"shape", shape}, {"dtype", "float32"}, {"bytes", bytes}};
}

json call(const char* op, const json& inputs, const json& output) {
  return {{"op", op}, {"inputs", inputs}, {"outputs", json::array({output})}};
}

TEST(known_flops, of_products_and_convolutions) {
  const auto flops = [](const char* op, const json& inputs, const json& output) {
    return known_flops(call(op, inputs, output));
  };
  EXPECT_EQ(flops("aten::mm", {tensor({2, 3}), tensor({3, 5})}, tensor({2, 5})), 60.0);
  EXPECT_EQ(flops("aten::linear", {tensor({2, 3}), tensor({5, 3}), tensor({5})}, tensor({2, 5})),
            60.0);
  EXPECT_EQ(flops("aten::addmm", {tensor({5}), tensor({2, 3}), tensor({3, 5})}, tensor({2, 5})),
            60.0);
  // Two groups: each output channel sees half of the input's.
  EXPECT_EQ(
      flops("aten::conv2d", {tensor({1, 4, 8, 8}), tensor({6, 2, 3, 3})}, tensor({1, 6, 6, 6})),
      2.0 * 6 * 36 * 2 * 9);
  EXPECT_EQ(flops("aten::conv_transpose2d.input", {tensor({1, 4, 8, 8}), tensor({4, 6, 3, 3})},
                  tensor({1, 6, 10, 10})),
            2.0 * 4 * 64 * 6 * 9);
  EXPECT_EQ(flops("aten::relu", {tensor({2, 3})}, tensor({2, 3})), std::nullopt);
}

class cost : public ::testing::Test {
 protected:
  std::vector<std::string> kinds(const json& declared, const char* op = "aten::relu",
                                 const char* fill = "normal") {
    const json form{{"inputs", {{{"dtype", nullptr}, {"fill", fill}, {"sizes", {1000, 1000}}}}},
                    {"cost", declared}};
    examined_file one;
    examine_cost(one, "x/y", form, "float32",
                 json::array({call(op, json::array({tensor({1000, 1000}, 4e6)}),
                                   tensor({1000, 1000}, 4e6))}));
    std::vector<std::string> found;
    for (const finding& f : one.findings) {
      found.push_back(f.kind + (f.what.find("inputs and outputs alone") != std::string::npos
                                    ? " too low"
                                    : ""));
    }
    return found;
  }
  static json moves(double elements, double bytes = 0.0) {
    return {{"elements", elements}, {"bytes", bytes}, {"flops", 0.0}, {"matrix", false}};
  }
};

TEST_F(cost, bytes_against_what_the_calls_move) {
  using list = std::vector<std::string>;
  EXPECT_EQ(kinds(moves(2e6)), list{});
  EXPECT_EQ(kinds(moves(2.4e6)), list{});
  EXPECT_EQ(kinds(moves(3e6)), list{"bytes"});
  EXPECT_EQ(kinds(moves(0.0, 1.2e7)), list{"bytes"});
  EXPECT_EQ(kinds(moves(1e6)), list{"bytes too low"});
  EXPECT_EQ(kinds(nullptr), list{}) << "nothing is declared";
  // Of a table that is looked into, and of a view, less may be moved.
  EXPECT_EQ(kinds(moves(1e3), "aten::embedding"), list{});
  EXPECT_EQ(kinds(moves(1e3), "aten::relu", "index"), list{});
}

TEST(findings, of_several_dtypes_are_one_line) {
  examined_file one;
  one.add(level::note, "n", "a/b", "w", "y", "d");
  one.add(level::warning, "k", "a/b[float32]", "same", "y", "d");
  one.add(level::error, "k", "a/b[float16]", "other", "y", "d");
  one.add(level::warning, "k", "a/b[float64]", "same", "y", "d");
  one.add(level::warning, "k", "a/c[float64]", "same", "y", "d");
  settle(one.findings);
  ASSERT_EQ(one.findings.size(), 4U);
  EXPECT_EQ(one.findings[0].subject, "a/b[float16]");
  EXPECT_EQ(one.findings[1].subject, "a/b[float32, float64]");
  EXPECT_EQ(one.findings[2].subject, "a/c[float64]");
  EXPECT_EQ(one.findings[3].is, level::note);
}

TEST(paths, that_can_never_match) {
  examined_file one;
  const auto path = [](const char* name, const char* source, const char* pattern) {
    return json{{"name", name}, {"grade", "fast"}, {"source", source}, {"pattern", pattern}};
  };
  one.checks.push_back(
      {{"check", "x/y"},
       {"paths",
        {path("a", "operator", "aten::miopen_batch_norm"),
         path("b", "operator", "aten::miopen_batchnorm"), path("c", "operator", "relu"),
         path("d", "kernel", "*gemm*"), path("e", "kernel", "*gemm_16*"),
         path("d", "kernel", "*gemm_32*"), path("f", "kernel", "ab[")}}});
  examine_paths(one, {"aten::miopen_batch_norm", "aten::relu", "aten::add.Tensor"});
  std::vector<std::string> whats;
  for (const finding& f : one.findings) {
    EXPECT_EQ(f.kind, "path-never");
    whats.push_back(f.what.substr(0, f.what.find(' ', 9)));
  }
  EXPECT_EQ(whats,
            (std::vector<std::string>{"its path b", "its path c", "its path f", "its path e"}));
  EXPECT_NE(one.findings[0].what.find("did you mean 'aten::miopen_batch_norm'"), std::string::npos);
}

}  // namespace
}  // namespace assay::conformance
