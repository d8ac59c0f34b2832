// SPDX-License-Identifier: Apache-2.0
//
// What the binder says of a plan that cannot be called.
#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include "bind.hpp"
#include "made_check.hpp"

namespace assay::tests {

namespace {

template <typename Error, typename... Calls>
std::string refusal(std::vector<input> inputs, Calls... calls) {
  const made_check check("refused", std::move(inputs), std::move(calls)...);
  try {
    const engine::bound_plan plan(check.c_form());
  } catch (const Error& e) {
    return e.what();
  }
  return "(it was bound)";
}

template <typename... Calls>
std::string fault(Calls... calls) {
  return refusal<engine::plan_error>({randn({2, 2})}, std::move(calls)...);
}

// assay_test::kinds with its ten arguments, one of them replaced.
std::string fault_of_kind(const char* argument, const value& replacement) {
  std::vector<std::pair<std::string, value>> given{
      {"x", in(0)},        {"flag", true},           {"whole", 1},  {"real", 1.5},
      {"text", "text"},    {"type", dtype::float32}, {"number", 2}, {"wholes", ints{}},
      {"reals", floats{}}, {"tensors", list({})}};
  operator_call call{"assay_test::kinds", {}};
  for (const auto& [name, v] : given) {
    call.arguments.push_back(arg(name, name == argument ? replacement : v));
  }
  return fault(std::move(call));
}

}  // namespace

TEST(binder_errors, a_misspelt_operator_gets_the_nearest_name) {
  EXPECT_EQ(refusal<engine::missing_operator>({randn({2})}, call("aten::sigmoyd", in(0))),
            "this LibTorch has no operator aten::sigmoyd; did you mean 'aten::sigmoid'?");
}

TEST(binder_errors, a_call_that_says_where_it_is_written_is_named_so) {
  operator_call misspelt = call("aten::gelu", in(0), arg("aproximate", "none"));
  misspelt.source = "x.assay.toml:17";
  EXPECT_EQ(fault(misspelt),
            "x.assay.toml:17: call 0, aten::gelu has no argument 'aproximate'; did you mean "
            "'approximate'?");
  operator_call missing = call("aten::sigmoyd", in(0));
  missing.source = "x.assay.toml:18";
  EXPECT_EQ(refusal<engine::missing_operator>({randn({2})}, missing),
            "x.assay.toml:18: this LibTorch has no operator aten::sigmoyd; did you mean "
            "'aten::sigmoid'?");
}

TEST(binder_errors, devices_bools_and_formats_where_they_do_not_belong) {
  EXPECT_EQ(fault(call("aten::clone", in(0), arg("memory_format", "sideways"))),
            "call 0, aten::clone: argument 'memory_format' wants MemoryFormat?, the plan "
            "gives a string");
  EXPECT_EQ(fault(call("aten::relu", device_under_test)),
            "call 0, aten::relu: argument 'self' wants Tensor, the plan gives a device");
  EXPECT_EQ(fault(call("aten::sum.dim_IntList", in(0), bools{true})),
            "call 0, aten::sum.dim_IntList: argument 'dim' wants int[]?, the plan "
            "gives a list of bools");
  EXPECT_EQ(fault(call("aten::cat", list({in(0), none}))),
            "call 0, aten::cat: argument 'tensors' wants a list of tensors, item 1 is None");
}

TEST(binder_errors, an_operator_like_no_other_gets_no_suggestion) {
  EXPECT_EQ(refusal<engine::missing_operator>({randn({2})}, call("acme::warp_drive_9000", in(0))),
            "this LibTorch has no operator acme::warp_drive_9000");
}

TEST(binder_errors, a_missing_overload_lists_the_others) {
  const std::string text =
      refusal<engine::missing_operator>({randn({2})}, call("aten::add", in(0), in(0)));
  EXPECT_TRUE(text.starts_with("this LibTorch has no operator aten::add; it has ")) << text;
  EXPECT_NE(text.find("aten::add.Tensor"), std::string::npos) << text;
  EXPECT_NE(text.find("aten::add.Scalar"), std::string::npos) << text;
  EXPECT_EQ(text.find("aten::addmm"), std::string::npos) << text;
}

TEST(binder_errors, the_call_is_named_by_its_position) {
  EXPECT_EQ(fault(call("aten::relu", in(0)), call("aten::softmax.int", result(0), arg("dym", 1))),
            "call 1, aten::softmax.int has no argument 'dym'; did you mean 'dim'?");
}

TEST(binder_errors, an_unknown_argument_unlike_any_gets_no_suggestion) {
  EXPECT_EQ(fault(call("aten::relu", in(0), arg("temperature", 1))),
            "call 0, aten::relu has no argument 'temperature'");
}

TEST(binder_errors, an_argument_given_twice) {
  EXPECT_EQ(fault(call("aten::softmax.int", in(0), 1, arg("dim", 1))),
            "call 0, aten::softmax.int: argument 'dim' is given twice");
}

TEST(binder_errors, a_keyword_only_argument_by_position) {
  EXPECT_EQ(fault(call("aten::add.Tensor", in(0), in(0), 2)),
            "call 0, aten::add.Tensor: argument 'alpha' goes by its name only, the plan gives it "
            "by position");
}

TEST(binder_errors, a_missing_argument) {
  EXPECT_EQ(fault(call("aten::softmax.int", in(0))),
            "call 0, aten::softmax.int: argument 'dim' is missing and has no default: "
            "aten::softmax(self, dim, dtype)");
}

TEST(binder_errors, too_many_arguments) {
  EXPECT_EQ(fault(call("aten::relu", in(0), 1)),
            "call 0, aten::relu takes 1 argument, the plan gives more: aten::relu(self)");
}

TEST(binder_errors, an_input_that_the_check_does_not_have) {
  EXPECT_EQ(fault(call("aten::relu", in(1))),
            "call 0, aten::relu: there is no input 1, the check has 1");
  EXPECT_EQ(fault(call("aten::cat", list({in(0), in(7)}))),
            "call 0, aten::cat: there is no input 7, the check has 1");
}

TEST(binder_errors, the_result_of_a_call_that_does_not_come_before) {
  EXPECT_EQ(fault(call("aten::relu", result(0))),
            "call 0, aten::relu: it uses the result of call 0, which does not come before it");
  EXPECT_EQ(fault(call("aten::relu", result(1)), call("aten::relu", in(0))),
            "call 0, aten::relu: it uses the result of call 1, which does not come before it");
}

TEST(binder_errors, a_result_that_the_call_does_not_have) {
  EXPECT_EQ(fault(call("aten::max.dim", in(0), 0), call("aten::relu", result(0, 2))),
            "call 1, aten::relu: there is no result 2 of call 0, aten::max.dim returns 2");
}

TEST(binder_errors, a_list_with_a_constant) {
  EXPECT_EQ(fault(call("aten::cat", list({in(0), 1.5}))),
            "call 0, aten::cat: argument 'tensors' wants a list of tensors, item 1 is a float");
}

TEST(binder_errors, a_wrong_type_for_each_kind) {
  const auto wants = [](const char* argument, const char* type, const char* given) {
    return std::string("call 0, assay_test::kinds: argument '") + argument + "' wants " + type +
           ", the plan gives " + given;
  };
  EXPECT_EQ(fault_of_kind("x", none), wants("x", "Tensor", "None"));
  EXPECT_EQ(fault_of_kind("x", "text"), wants("x", "Tensor", "a string"));
  EXPECT_EQ(fault_of_kind("x", ints{1}), wants("x", "Tensor", "a list of ints"));
  EXPECT_EQ(fault_of_kind("x", floats{1.0}), wants("x", "Tensor", "a list of floats"));
  EXPECT_EQ(fault_of_kind("x", list({in(0)})), wants("x", "Tensor", "a list of tensors"));
  EXPECT_EQ(fault_of_kind("flag", 1), wants("flag", "bool", "an int"));
  EXPECT_EQ(fault_of_kind("whole", 1.5), wants("whole", "int", "a float"));
  EXPECT_EQ(fault_of_kind("whole", dtype::float32), wants("whole", "int", "a dtype"));
  EXPECT_EQ(fault_of_kind("whole", in(0)), wants("whole", "int", "a tensor"));
  EXPECT_EQ(fault_of_kind("real", true), wants("real", "float", "a bool"));
  EXPECT_EQ(fault_of_kind("real", dtype::float32), wants("real", "float", "a dtype"));
  EXPECT_EQ(fault_of_kind("text", 1), wants("text", "str", "an int"));
  EXPECT_EQ(fault_of_kind("type", 1.5), wants("type", "ScalarType", "a float"));
  EXPECT_EQ(fault_of_kind("number", "text"), wants("number", "Scalar", "a string"));
  EXPECT_EQ(fault_of_kind("wholes", floats{1.0}), wants("wholes", "int[]", "a list of floats"));
  EXPECT_EQ(fault_of_kind("reals", 1.5), wants("reals", "float[]", "a float"));
  EXPECT_EQ(fault_of_kind("tensors", in(0)), wants("tensors", "Tensor[]", "a tensor"));
  EXPECT_EQ(fault_of_kind("tensors", none), wants("tensors", "Tensor[]", "None"));
}

TEST(binder_errors, none_goes_where_the_schema_has_an_optional_only) {
  EXPECT_EQ(fault(call("aten::clamp", in(0), none, none)), "(it was bound)");
  EXPECT_EQ(fault(call("aten::softmax.int", in(0), none)),
            "call 0, aten::softmax.int: argument 'dim' wants int, the plan gives None");
}

TEST(binder_errors, a_list_result_without_that_item_is_found_as_it_runs) {
  const made_check check("split", {randn({4})}, call("aten::split.Tensor", in(0), 2),
                         call("aten::relu", result(0, 2)));
  engine::bound_plan plan(check.c_form());
  plan.set_inputs({at::empty({4})});
  try {
    plan.run();
    FAIL() << "it ran";
  } catch (const engine::plan_error& e) {
    EXPECT_STREQ(e.what(), "call 0 returned a list that has no item 2");
  }
}

}  // namespace assay::tests
