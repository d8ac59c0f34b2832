// SPDX-License-Identifier: Apache-2.0
//
// The small language of calls: what each argument becomes, and where a mistake is.
#include "host/worker/toml_pack_call.hpp"

#include "host/assay/plan_text.hpp"
#include "packs.hpp"

namespace {

using namespace assay;
using namespace assay::testing;
using nlohmann::json;

const worker::named_sizes sizes{{"m", std::int64_t{128}}, {"eps", 1e-5}, {"half", 0.5}};

operator_call parsed(const std::string& text) {
  worker::formula_reader formulas;
  formulas.set_names({{"m", 128}, {"eps", 1e-5}, {"half", 0.5}});
  return worker::parse_call(text, {sizes, formulas, 2, 3});
}

/// The description of the last of four calls.
json described_call(const std::string& text) {
  registry plugin;
  plugin.category("a", "").add(check("b", {randn({4}), randn({4})},
                                     {call("aten::max.dim", in(0), 0), call("aten::relu", in(0)),
                                      call("aten::relu", in(0)), parsed(text)}));
  return described(plugin).at(0)["plan"][3];
}

json argument(const std::string& written) {
  return described_call("aten::x(" + written + ")")["arguments"].at(0);
}

TEST(call, operator_and_result) {
  for (const char* text :
       {"aten::add.Tensor(in0, in1, alpha=2)", " r3=aten::add.Tensor(in0,in1,alpha = 2,)  ",
        "r3 = aten::add.Tensor( in0 ,\tin1 , alpha=2 )"}) {
    const operator_call made = parsed(text);
    EXPECT_EQ(made.op, "aten::add.Tensor");
    ASSERT_EQ(made.arguments.size(), 3U);
    EXPECT_EQ(described_call(text)["arguments"][2]["argument"], "alpha");
  }
  EXPECT_EQ(parsed("acme::f()").arguments.size(), 0U);
}

TEST(call, values) {
  const std::vector<std::tuple<std::string, std::string, json>> all{
      {"None", "none", nullptr},
      {"in1", "input", 1},
      {"r2", "result", 2},
      {"True", "bool", true},
      {"False", "bool", false},
      {"7", "int", 7},
      {"-9223372036854775808", "int", std::numeric_limits<std::int64_t>::min()},
      {"+9223372036854775807", "int", std::numeric_limits<std::int64_t>::max()},
      {"m", "int", 128},
      {"(2*m)", "int", 256},
      {"(m/3*3)", "int", 128},
      {"(1/(m*2))", "float", 1.0 / 256},
      {"(-m)", "int", -128},
      {"7.0", "float", 7.0},
      {".5", "float", 0.5},
      {"-1e-5", "float", -1e-5},
      {"eps", "float", 1e-5},
      {"inf", "float", "inf"},
      {"-inf", "float", "-inf"},
      {"nan", "float", "nan"},
      {"\"tanh\"", "string", "tanh"},
      {"'tanh'", "string", "tanh"},
      {"'it\\'s \"x\"'", "string", "it's \"x\""},
      {"\"\\u00e9\\n\\\\\"", "string", "\xC3\xA9\n\\"},
      {"''", "string", ""},
      {"float16", "dtype", "float16"},
      {"bool", "dtype", "bool"},
      {"dtype_under_test", "dtype", nullptr},
      {"device_under_test", "device", nullptr},
      {"[1, m, (m/2)]", "int_list", {1, 128, 64}},
      {"[]", "int_list", json::array()},
      {"[1, 2.5]", "float_list", {1.0, 2.5}},
      {"[2.5, 1, half, inf]", "float_list", json::array_t{2.5, 1.0, 0.5, "inf"}},
      {"float[]", "float_list", json::array()},
      {"[True, False]", "bool_list", {true, false}},
      {"bool[]", "bool_list", json::array()},
      {"Tensor[]", "list", json::array()}};
  for (const auto& [written, kind, value] : all) {
    const json made = argument(written);
    EXPECT_EQ(made["kind"], kind) << written;
    EXPECT_EQ(made["value"], value) << written;
    // What is printed means the same again.
    const std::string printed =
        call_as_text(described_call("aten::x(" + written + ")"), 3, "dtype_under_test");
    EXPECT_EQ(described_call(printed)["arguments"][0], made) << printed;
  }
  EXPECT_EQ(argument("r0[1]")["item"], 1);
  const json list = argument("[in0, None, r0[1]]");
  EXPECT_EQ(list["kind"], "list");
  EXPECT_EQ(list["value"][1]["kind"], "none");
  EXPECT_EQ(list["value"][2]["item"], 1);
}

TEST(call, mistakes_and_their_places) {
  struct one {
    std::string text, part;
    std::size_t offset;
  };
  for (const auto& [text, part, offset] : std::vector<one>{
           {"", "an operator is needed, like aten::add.Tensor, here is the end", 0},
           {"r2 = aten::x()", "the result of this call is r3, not 'r2'", 0},
           {"aten.relu(in0)", "'::' is needed in the operator's name", 4},
           {"aten::(in0)", "an operator is needed", 0},
           {"aten::x", "'(' is needed behind the operator's name, here is the end", 7},
           {"aten::x(in0", "',' is needed or ')' behind an argument, here is the end", 11},
           {"aten::x(in0 in1)", "',' is needed", 12},
           {"aten::x(in0) + 1", "the call ends before '+ 1'", 13},
           {"aten::x(,)", "a value is needed, here is ',)'", 8},
           {"aten::x(a=)", "a value is needed", 10},
           {"aten::x(a=1, in0)", "what goes by position stands before what goes by name", 13},
           {"aten::x(in2)", "there is no input in2, the check has 2", 8},
           {"aten::x(in99999999999)", "there is no input", 8},
           {"aten::x(r3)", "r3 is what this call itself returns", 8},
           {"aten::x(r0[x])", "the number of a result is needed, like r0[1]", 11},
           {"aten::x(r0[1)", "']' is needed behind the number of a result", 12},
           {"aten::x(none)", "'none' is no value and no number of 'sizes'; did you mean 'None'?",
            8},
           {"aten::x(tanh)", "a text stands in quotes", 8},
           {"aten::x(flaot16)", "did you mean 'float16'?", 8},
           {"aten::x(bf16)", "did you mean 'bfloat16'?", 8},
           {"aten::x(-m)", "a formula stands in parentheses: (-m)", 9},
           {"aten::x(-)", "a number is needed behind a sign", 9},
           {"aten::x(1_000)", "a number ends before '_000)'", 9},
           {"aten::x(1.2.3)", "a number ends before '.3)'", 11},
           {"aten::x(9223372036854775808)", "does not fit into 64 bits", 8},
           {"aten::x(1e999)", "out of a float's range", 8},
           {"aten::x((m)", "',' is needed", 11},
           {"aten::x((m", "this '(' has no ')'", 8},
           {"aten::x((2*mm))", "there is no number or function 'mm'; did you mean 'm'?", 11},
           {"aten::x(\"tanh)", "this string does not end", 8},
           {"aten::x(\"\\q\")", "this string cannot be read", 8},
           {"aten::x(\"\\u0000\")", "without zero", 8},
           {"aten::x([1, 2)", "',' is needed or ']' in a list", 13},
           {"aten::x([1", "this '[' has no ']'", 8},
           {"aten::x([[1]])", "a list holds numbers, bools, or tensors and None, here is '[1]])'",
            9},
           {"aten::x([1, True])", "what does not go with what stands before it is 'True])'", 12},
           {"aten::x([in0, 1])", "what does not go with", 14},
           {"aten::x([nnoe])", "'nnoe' is no value", 9},
           {"aten::x(['a'])", "a list holds numbers", 9}}) {
    try {
      parsed(text);
      ADD_FAILURE() << text << " was taken";
    } catch (const worker::text_mistake& e) {
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << text << ": " << e.what();
      EXPECT_EQ(e.offset(), offset) << text << ": " << e.what();
    }
  }
}

TEST(call, every_beginning_ends_in_a_mistake) {
  const std::string whole =
      "r3 = aten::x(in0, [in0, None, r0[1]], [1.5, -2e-3], 'a\\'b', (2*(m+1)), float[], b=[True])";
  EXPECT_NO_THROW(parsed(whole));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THROW(parsed(whole.substr(0, length)), worker::text_mistake) << length;
  }
}

}  // namespace
