// SPDX-License-Identifier: Apache-2.0
//
// Every mistake that a TOML pack can have: the line, what it is, and what is needed.
#include "packs.hpp"

namespace {

using namespace assay;
using namespace assay::testing;

struct mistake {
  std::string text;   // of the whole file, or of the keys of its check
  std::string place;  // "14" or "14:20"
  std::string part;
};

void expect_refused(const std::string& file, const mistake& m) {
  const std::string reason = refusal(file);
  const std::string place = "acme.assay.toml:" + m.place + ": ";
  EXPECT_EQ(reason.substr(0, place.size()), place) << m.text << "\n" << reason;
  EXPECT_NE(reason.find(m.part), std::string::npos) << m.text << "\n" << reason;
  EXPECT_EQ(reason.find('\n'), std::string::npos) << reason;
}

TEST(mistakes, of_the_file) {
  const std::string category = "[[category]]\nname = \"a\"\n";
  const std::string pack = "[pack]\nformat = 1\nid = \"acme\"\nversion = \"1\"\nvendor = \"A\"\n";
  for (const mistake& m : std::vector<mistake>{
           {"[[category]\n", "1:12", "]"},
           {"[pack\n[[check]]\n", "1:6", ""},
           {pack + category + "x = oops\n", "8:5", "value"},
           {pack + category + "m == 128\n", "8:4", ", in 'm == 128'"},
           {"[pack]\nformat = 1\nx = [\n  }\n]\n", "4", "this line is no TOML"},
           {"[pack]\n[\n", "2", "this line is no TOML"},
           {category, "1", "the file needs [pack], with format = 1, id, version and vendor"},
           {"pack = 3\n" + category, "1", "the file needs [pack]"},
           {pack + category + "[[chekc]]\n", "8",
            "the file has no key 'chekc'; did you mean 'check'?"},
           {"[pack]\nid = \"a\"\n" + category, "1", "[pack] needs 'format'"},
           {"[pack]\nformat = 2\n" + category, "2", "'format' is 2, this assay reads format 1"},
           {"[pack]\nformat = \"1\"\n" + category, "2", "'format' is no whole number"},
           {"[pack]\nformat = 1\nid = \"A b\"\n" + category, "3",
            "'A b' takes a-z, 0-9, _ . and - only"},
           {"[pack]\nformat = 1\nid = \"" + std::string(48, 'a') +
                "\"\nversion = \"1\"\nvendor = \"A\"\n" + category,
            "3", "'id' has at most 47 bytes, this has 48"},
           {"[pack]\nformat = 1\nid = \"a\"\nversion = 1\n" + category, "4",
            "'version' is a text that is not empty"},
           {"[pack]\nformat = 1\nid = \"a\"\nversion = \"1\"\nvendor = \"\"\n" + category, "5",
            "'vendor' is a text that is not empty"},
           {pack + "accelerator = \"rcom\"\n" + category, "6", "did you mean 'rocm'?"},
           {pack + "load_library = \"x.so\"\n" + category, "6",
            "'load_library' is a list of texts"},
           {pack + "load_library = []\n" + category, "6", "leave the key out instead"},
           {pack + "load_libary = []\n" + category, "6", "did you mean 'load_library'?"},
           {pack + "needs = { acelerator = \"rocm\" }\n" + category, "6",
            "did you mean 'accelerator'?"},
           {pack + "needs = { accelerator = \"metal\" }\n" + category, "6", "'metal'"},
           {pack + "needs = { torch_at_least = \"new\" }\n" + category, "6", "2.7"},
           {pack + "[category]\nname = \"a\"\n", "6", "'category' is written as [[category]]"},
           {pack + "[[category]]\nname = \"A\"\n", "7", "'A' takes a-z, 0-9 and _ only"},
           {pack + category + category, "9", "the category 'a' is there already"},
           {pack + category + "[[check]]\n", "8", "[[check]] needs 'name'"},
           {pack + category + "[[check]]\nname = \"b\"\n", "9",
            "'name' is category/name, this is 'b'"},
           {pack + category + "[[check]]\nname = \"a/B\"\n", "9", "'B' takes a-z"},
           {pack + "[[category]]\nname = \"acme\"\n[[check]]\nname = \"acne/b\"\n", "9",
            "this file has no [[category]] 'acne'; did you mean 'acme'?"},
           {pack + category + "[[check]]\nname = \"a/b\"\ncalls = ['aten::x()']\n" +
                "[[check]]\nname = \"a/b\"\ncalls = ['aten::x()']\n",
            "12", "the check 'a/b' is there already"}}) {
    expect_refused(m.text, m);
  }
}

TEST(mistakes, of_a_check) {
  const std::string calls = "calls = ['aten::relu(in0)']\n";
  const std::string good = one_input + calls;  // lines 11 and 12
  for (const mistake& m : std::vector<mistake>{
           {one_input, "9", "check acme/one needs 'calls'"},
           {"calls = []", "11", "'calls' is a list of calls"},
           {"calls = 'aten::x()'", "11", "'calls' is a list of calls"},
           {"calls = [7]", "11", "call 0 is a text that is not empty"},
           {"calls = ['''aten::x(\n)''']", "11", "call 0 is one line"},
           {good + "colour = 1", "13", "check acme/one has no key 'colour'"},
           {good + "costs = {}", "13", "did you mean 'cost'?"},
           {calls, "11:22", "call 0, character 12: there is no input in0, the check has 0"},
           {one_input + "calls = [\n  'aten::relu(in0)',\n  'aten::relu(r1)',\n]", "14:15",
            "call 1, character 12: r1 is what this call itself returns"},
           {good + "reference = ['aten::relu(in0']", "13:29", "reference call 0, character 15"},
           {"inputs = 3\n" + calls, "11", "'inputs' is a list of tables"},
           {"inputs = [[4, 3]]\n" + calls, "11", "in0 is a table, { key = value, ... }"},
           {"inputs = [{}]\n" + calls, "11", "in0 needs 'shape'"},
           {"inputs = [{ shape = 4 }]\n" + calls, "11",
            "in0: 'shape' is a list, one number a dimension"},
           {"inputs = [{ shape = [-1] }]\n" + calls, "11", "is 0 or more, this is -1"},
           {"inputs = [{ shape = [1.5] }]\n" + calls, "11", "is a whole number, this is 1.5"},
           {"inputs = [{ shape = [true] }]\n" + calls, "11",
            "is a number, or a text with a formula"},
           {"inputs = [{ shape = [\"m\"] }]\n" + calls, "11:23",
            "there is no number or function 'm'"},
           {"sizes = { rows = 1 }\ninputs = [\n  { shape = [1] },\n  { shape = [\"rwos\"] },\n]\n" +
                calls,
            "14:15", "did you mean 'rows'?"},
           {"inputs = [{ shape = [1], dtpye = \"int8\" }]\n" + calls, "11",
            "did you mean 'dtype'?"},
           {"inputs = [{ shape = [1], dtype = \"bf16\" }]\n" + calls, "11",
            "did you mean 'bfloat16'?"},
           {"inputs = [{ shape = [1], dtype = \"int46\" }]\n" + calls, "11",
            "did you mean 'int64'?"},
           {"inputs = [{ shape = [1], fill = \"ones\" }]\n" + calls, "11",
            "'fill' takes normal, uniform, index, mask, distinct, not 'ones'"},
           {"inputs = [{ shape = [1], fill = \"index\" }]\n" + calls, "11",
            "fill 'index' needs 'range'"},
           {"inputs = [{ shape = [1], range = [0, 1] }]\n" + calls, "11", "'range' goes with fill"},
           {"inputs = [{ shape = [1], fill = \"index\", range = [3] }]\n" + calls, "11",
            "two numbers"},
           {"inputs = [{ shape = [1], fill = \"index\", range = [3, 3] }]\n" + calls, "11",
            "the range is empty: 3 is not below 3"},
           {"inputs = [{ shape = [1], fill = \"uniform\", range = [0, inf] }]\n" + calls, "11",
            "is a finite number"},
           {"inputs = [{ shape = [1], fill = \"mask\", share = 1.0 }]\n" + calls, "11",
            "'share' lies between 0 and 1, this is 1"},
           {"inputs = [{ shape = [1], share = 0.5 }]\n" + calls, "11",
            "'share' goes with fill 'mask'"},
           {"inputs = [{ shape = [1], strides = [1, 1] }]\n" + calls, "11",
            "'strides' has 2 numbers, 'shape' has 1"},
           {"inputs = [{ shape = [3, 3], strides = [1, 1] }]\n" + calls, "9",
            "two elements share memory"},
           {"sizes = { in0 = 3 }\n" + good, "11", "'in0' means something else already"},
           {"sizes = { sqrt = 3 }\n" + good, "11", "'sqrt' means something else already"},
           {"sizes = { float16 = 3 }\n" + good, "11", "'float16' means something else already"},
           {"sizes = { K = 3 }\n" + good, "11", "'K' is no name: a name begins with a-z"},
           {"sizes = { k = \"3\" }\n" + good, "11", "'k' is a number"},
           {"sizes = { rows = 3 }\nlarge = { rwos = 5 }\n" + good, "12",
            "'sizes' has no number 'rwos'; did you mean 'rows'?"},
           {good + "large = {}", "13", "names no number of 'sizes'"},
           {good + "large = 5", "13", "'large' is a table"},
           {"sizes = { k = 1 }\nlarge = { k = 2 }\n" + good +
                "[check.large_form]\ncalls = ['aten::x()']",
            "12", "'large' and 'large_form' do not go together"},
           {good + "[check.large_form]\nname = \"x\"\ncalls = ['aten::x()']", "14",
            "has no key 'name'"},
           {good + "[check.large_form]\ncalls = ['aten::x(in0)']", "14:19", "the check has 0"},
           {good + "dtypes = []", "13", "'dtypes' is a list of dtypes"},
           {good + "dtypes = [\"bfloat61\"]", "13", "did you mean 'bfloat16'?"},
           {good + "dtypes = [\"bf16\"]", "13", "did you mean 'bfloat16'?"},
           {good + "dtypes = [\"int8\", \"int8\"]", "13", "the dtype int8 is given twice"},
           {good + "cost = { elements = -1 }", "13", "is not negative, this is -1"},
           {good + "cost = { element = 1 }", "13", "did you mean 'elements'?"},
           {good + "cost = { flops = \"2*in1\" }", "13:21", "formula '2*in1': there is no number"},
           {good + "cost = { flops = \"1/0\" }", "13:19", "is infinite"},
           {good + "cost = { flops = 1, matrix_flops = 1 }", "13", "do not go together"},
           {good + "accuracy = \"exact\"", "13", "'accuracy' is a table"},
           {good + "accuracy = { exact = 1 }", "13", "'exact' is true or false"},
           {good + "accuracy = { exact = true, contraction = true }", "13", "do not go together"},
           {good + "accuracy = { picks_input = 0 }", "13", "go together"},
           {good + "accuracy = { picks_input = 1, picks_dimension = 0 }", "13",
            "there is no input 1"},
           {good + "accuracy = { picks_input = 0, picks_dimension = 99 }", "13", "no dimension 99"},
           {good + "paths = [{ name = \"x\", kernel = \"*\" }]", "13", "path 0 needs 'grade'"},
           {good + "paths = [{ name = \"x\", grade = \"fats\", kernel = \"*\" }]", "13",
            "did you mean 'fast'?"},
           {good + "paths = [{ name = \"x\", grade = \"fast\" }]", "13",
            "one of 'operator' and 'kernel'"},
           {good + "paths = [{ name = \"x\", grade = \"fast\", kernel = \"*\", operator = \"*\" }]",
            "13", "one of 'operator' and 'kernel'"},
           {good + "needs = { free_memory_bytes = -1 }", "13",
            "'free_memory_bytes' is a whole number"},
           {good + "needs = { torch_below = \"x\" }", "13", "'x'"},
           {good + "weight = -1", "13", "'weight' is a whole number"},
           {good + "summary = \"a\\nb\"", "13", "'summary' is one line"},
           {good + "summary = \"a\\u0000b\"", "13", "'summary' is one line"}}) {
    expect_refused(one_check(m.text), m);
  }
}

TEST(mistakes, columns_count_characters_and_need_the_text_as_it_stands) {
  expect_refused(one_check("calls = [ 'aten::x(\"\xC3\xA9\", )', 'aten::y(oops)' ]"),
                 {"", "11:38", "'oops' is no value"});
  // The first text of the line that reads the same is not the one that is wrong.
  expect_refused(one_check("inputs = [{ shape = [\"2*1\", \"*1\"] }]\ncalls = ['a::b()']"),
                 {"", "11:30", "cannot be read"});
  // An escape moves what stands behind it: the character of the call is what can be said.
  expect_refused(one_check("calls = [ \"aten::x(\\\"a\\\", oops)\" ]"),
                 {"", "11", "call 0, character 14: 'oops' is no value"});
}

}  // namespace
