// SPDX-License-Identifier: Apache-2.0
#include "host/assay/show_command.hpp"

#include <gtest/gtest.h>

#include "golden.hpp"

namespace assay {
namespace {

using nlohmann::json;
using testing_support::expect_golden;

json argument(const char* kind, json value, const char* name = nullptr, int item = 0) {
  return {{"kind", kind},
          {"argument", name == nullptr ? json() : json(name)},
          {"value", std::move(value)},
          {"item", item}};
}

json input(json dtype, const char* fill, json sizes, double low = 0, double high = 0) {
  return {{"dtype", std::move(dtype)},
          {"fill", fill},
          {"sizes", std::move(sizes)},
          {"low", low},
          {"high", high}};
}

json call(const char* op, json arguments) { return {{"op", op}, {"arguments", arguments}}; }

json check(const char* name, json inputs, json plan) {
  return {{"record", "check"},           {"check", std::string("sample/") + name},
          {"category", "sample"},        {"name", name},
          {"plugin", "sample_pack"},     {"dtypes", {"float32", "float16"}},
          {"inputs", std::move(inputs)}, {"plan", std::move(plan)}};
}

json list(std::initializer_list<json> items) { return json::array_t(items); }

// Every kind of input and argument once.
json everything() {
  return check(
      "everything",
      list({input(nullptr, "normal", {4, 3}), input(nullptr, "uniform", {4, 3}, -0.5, 2.5),
            input("int64", "index", json::array_t{4}, 0, 4), input("bool", "mask", {4, 3}, 0.25),
            input("int32", "uniform", {2}, -3, 9), input(nullptr, "normal", json::array())}),
      list({call("aten::add.Tensor",
                 list({argument("input", 0), argument("input", 1), argument("int", 2, "alpha")})),
            call("aten::cat",
                 list({argument("list", list({argument("input", 0), argument("result", 0)})),
                       argument("int", -1)})),
            call("aten::topk", list({argument("result", 1), argument("int", 2),
                                     argument("bool", true, "largest")})),
            call("aten::index_select",
                 list({argument("result", 2), argument("int", 0), argument("input", 2)})),
            call("aten::sum.dim_IntList",
                 list({argument("result", 2), argument("int_list", {0, 1}), argument("bool", false),
                       argument("dtype", nullptr, "dtype")})),
            call("aten::masked_fill.Scalar",
                 list({argument("input", 0), argument("input", 3), argument("float", "-inf")})),
            call("aten::max.dim", list({argument("result", 5), argument("int", 1)})),
            call("aten::to.dtype",
                 list({argument("result", 6, nullptr, 1), argument("dtype", "float64")})),
            call("aten::gelu",
                 list({argument("input", 1), argument("string", "tanh", "approximate")})),
            call("aten::clamp",
                 list({argument("result", 8), argument("none", nullptr), argument("float", 1.0)})),
            call("aten::topk", list({argument("result", 9), argument("int", 1)}))}));
}

TEST(show_check, every_kind_of_input_and_argument) {
  expect_golden("show.txt", show_check(everything(), "float32"));
}

TEST(python_reproducer, whole_script) {
  expect_golden("reproducer.txt", python_reproducer(everything(), "float32", "cuda:0", 7));
}

TEST(show, why_a_check_is_not_there) {
  const auto plugin = [](const char* id, const char* file, const char* status, const char* reason) {
    return json{{"id", id}, {"file", file}, {"status", status}, {"reason", reason}};
  };
  const std::vector<json> plugins{
      plugin("com.acme.ops", "/p/acme_ops.assay.so", "off", "--disable 'plugin:com.*'"),
      plugin("", "/p/spy.assay.so", "refused", "others may write it"),
      plugin("norm", "/p/norm.assay.so", "loaded", ""),
      plugin("conv", "/p/conv.assay.so", "off", "--enable names others"),
      plugin("linear", "/p/linear.assay.so", "off", "--enable names others")};
  const missing_check by_id = why_not_there("acme/pad", plugins, true);
  EXPECT_EQ(by_id.text, "; plugin com.acme.ops is off (--disable 'plugin:com.*')");
  EXPECT_FALSE(by_id.refused);
  const missing_check by_file = why_not_there("spy/ln", plugins, true);
  EXPECT_EQ(by_file.text, "; plugin /p/spy.assay.so is refused (others may write it)");
  EXPECT_TRUE(by_file.refused);
  EXPECT_EQ(why_not_there("other/x", plugins, true).text, "");
  EXPECT_EQ(why_not_there("other/x", plugins, false).text,
            "; plugin com.acme.ops is off (--disable 'plugin:com.*'); plugin /p/spy.assay.so is "
            "refused (others may write it); plugins conv, linear are off (--enable names others)");
}

TEST(python_reproducer, dtype_of_the_check) {
  const std::string script = python_reproducer(everything(), "float16", "cpu", 0);
  EXPECT_NE(script.find("make_input(0, \"normal\", (4, 3), torch.float16, 0.0, 0.0)"),
            std::string::npos);
  EXPECT_NE(script.find("dtype=torch.float16"), std::string::npos);
  EXPECT_NE(script.find("DEVICE = \"cpu\""), std::string::npos);
}

TEST(python_reproducer, names_that_python_keeps_for_itself) {
  const json record = check("odd", json::array(),
                            list({call("acme::import.from", list({argument("int", -1, "lambda")})),
                                  call("acme::f", list({argument("float_list", {1.0, 0.5})}))}));
  const std::string script = python_reproducer(record, "float32", "cpu", 0);
  EXPECT_NE(script.find("r0 = getattr(getattr(torch.ops.acme, \"import\"), \"from\")"
                        "(**{\"lambda\": -1})"),
            std::string::npos)
      << script;
  EXPECT_NE(script.find("r1 = torch.ops.acme.f.default([1.0, 0.5])"), std::string::npos);
  EXPECT_NE(script.find("# torch.ops.load_library(\"PATH\")"), std::string::npos);
  EXPECT_NE(script.find("def run():"), std::string::npos);
}

TEST(python_reproducer, numbers) {
  EXPECT_EQ(python_number(1.0), "1.0");
  EXPECT_EQ(python_number(1), "1");
  EXPECT_EQ(python_number(-1e-5), "-1e-05");
  EXPECT_EQ(python_number("-inf"), "float(\"-inf\")");
  EXPECT_EQ(python_number(nullptr), "float(\"nan\")");
}

}  // namespace
}  // namespace assay
