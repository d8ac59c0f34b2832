// SPDX-License-Identifier: Apache-2.0
//
// Plans that are right: what reaches the operators, and what comes back.
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include "bind.hpp"
#include "made_check.hpp"

namespace assay::tests {

namespace {

// Arguments of the made checks are declared with any size: the tests give their own tensors.
template <typename... Calls>
std::vector<at::Tensor> outputs_of(std::vector<at::Tensor> inputs, Calls... calls) {
  const made_check check("bound", std::vector<input>(inputs.size(), randn({1})),
                         std::move(calls)...);
  engine::bound_plan plan(check.c_form());
  plan.set_inputs(std::move(inputs));
  plan.run();
  return plan.outputs();
}

template <typename... Calls>
at::Tensor output_of(std::vector<at::Tensor> inputs, Calls... calls) {
  const auto outputs = outputs_of(std::move(inputs), std::move(calls)...);
  EXPECT_EQ(outputs.size(), 1U);
  return outputs.at(0);
}

at::Tensor numbers(std::int64_t count) { return at::arange(count, at::kFloat); }

}  // namespace

TEST(binder, an_int_becomes_a_float_or_a_number) {
  EXPECT_EQ(output_of({numbers(3)}, call("aten::leaky_relu", in(0), 2)).sum().item<float>(), 3.0F);
  EXPECT_TRUE(at::equal(output_of({at::ones({2}, at::kLong)}, call("aten::add.Scalar", in(0), 2)),
                        at::full({2}, 3, at::kLong)));
  const at::Tensor normed = output_of(
      {numbers(4)}, call("aten::layer_norm", in(0), ints{4}, none, none, arg("eps", 1000000)));
  EXPECT_LT(normed.abs().max().item<float>(), 0.01F);
}

TEST(binder, the_device_and_the_dtype_of_the_check_are_the_sites) {
  const made_check check("site", {randn({2})},
                         call("aten::_to_copy", in(0), arg("dtype", dtype::of_check),
                              arg("device", device_under_test)));
  engine::bound_plan plan(check.c_form(), {c10::kMeta, c10::ScalarType::Half});
  plan.set_inputs({numbers(2)});
  plan.run();
  EXPECT_EQ(plan.outputs().at(0).device().type(), c10::kMeta);
  EXPECT_EQ(plan.outputs().at(0).scalar_type(), c10::ScalarType::Half);
}

TEST(binder, layouts_and_memory_formats_go_by_their_names) {
  const at::Tensor image = at::ones({1, 2, 3, 4});
  EXPECT_EQ(output_of({image}, call("aten::clone", in(0), arg("memory_format", "channels_last")))
                .strides()
                .vec(),
            (std::vector<std::int64_t>{24, 1, 8, 2}));
  EXPECT_EQ(output_of({image}, call("aten::zeros_like", in(0), arg("layout", "strided"))).layout(),
            c10::Layout::Strided);
}

TEST(binder, a_list_of_bools_and_one_with_none) {
  const auto sums =
      outputs_of({at::ones({1, 1, 3}), at::ones({1, 1, 1}), at::ones({1, 1, 3})},
                 call("aten::convolution_backward", in(2), in(0), in(1), ints{1}, ints{1}, ints{0},
                      ints{1}, false, ints{0}, 1, bools{false, true, true}));
  EXPECT_EQ(sums.size(), 2U);  // no gradient of the input was asked for
  const at::Tensor picked = output_of({numbers(6).reshape({2, 3}), at::ones({1}, at::kLong)},
                                      call("aten::index.Tensor", in(0), list({none, in(1)})));
  EXPECT_EQ(picked.sizes().vec(), (std::vector<std::int64_t>{2, 1}));
  EXPECT_EQ(picked.sum().item<float>(), 5.0F);
}

TEST(binder, a_bool_is_a_number_too) {
  EXPECT_TRUE(
      at::equal(output_of({at::ones({2}, at::kLong)}, call("aten::add.Scalar", in(0), true)),
                at::full({2}, 2, at::kLong)));
}

TEST(binder, a_float_becomes_a_number) {
  EXPECT_EQ(output_of({at::ones({1})}, call("aten::mul.Scalar", in(0), 0.25)).item<float>(), 0.25F);
}

TEST(binder, a_number_becomes_a_tensor_that_does_not_decide_the_dtype) {
  const at::Tensor doubled =
      output_of({at::ones({2}, at::kHalf)}, call("aten::mul.Tensor", in(0), 2.5));
  EXPECT_EQ(doubled.scalar_type(), at::kHalf);
  EXPECT_EQ(doubled.sum().item<float>(), 5.0F);
  EXPECT_EQ(output_of({at::ones({2}, at::kLong)}, call("aten::add.Tensor", in(0), 2)).scalar_type(),
            at::kLong);
}

TEST(binder, lists_of_numbers_and_of_nothing) {
  EXPECT_EQ(outputs_of({numbers(1), numbers(1)},
                       call("aten::_foreach_add.ScalarList", list({in(0), in(1)}), floats{1, 2.5}))
                .at(1)
                .item<float>(),
            2.5F);
  EXPECT_EQ(output_of({numbers(3)}, call("aten::sum.dim_IntList", in(0), ints{})).dim(), 0);
}

TEST(binder, inputs_that_are_written_to_get_their_values_back) {
  const made_check check("written", {randn({2}), randn({2}), randn({2})},
                         call("aten::add_.Tensor", in(0), in(1)),
                         call("aten::add.out", in(0), in(1), arg("out", in(2))));
  engine::bound_plan plan(check.c_form());
  EXPECT_TRUE(plan.writes_to(0));
  EXPECT_FALSE(plan.writes_to(1));
  EXPECT_FALSE(plan.only_writes_to(0));
  EXPECT_TRUE(plan.only_writes_to(2));
  const at::Tensor first = at::ones({2});
  plan.set_inputs({first, at::ones({2}), at::ones({2})});
  plan.run();
  plan.run();
  EXPECT_EQ(first.sum().item<float>(), 6.0F);
  plan.restore_inputs();
  EXPECT_EQ(first.sum().item<float>(), 2.0F);
}

TEST(binder, one_int_stands_for_a_list_of_the_schemas_length) {
  const at::Tensor image = at::ones({1, 1, 4, 6});
  EXPECT_EQ(output_of({image}, call("aten::avg_pool2d", in(0), 2)).sizes(),
            at::IntArrayRef({1, 1, 2, 3}));
  EXPECT_EQ(output_of({image}, call("aten::sum.dim_IntList", in(0), 3)).sizes(),
            at::IntArrayRef({1, 1, 4}));
}

TEST(binder, int_lists_become_lists_of_ints_or_floats) {
  const at::Tensor image = at::ones({1, 1, 4, 6});
  EXPECT_EQ(output_of({image}, call("aten::avg_pool2d", in(0), ints{4, 3})).sizes(),
            at::IntArrayRef({1, 1, 1, 2}));
  for (const value& scale : {value(ints{2, 3}), value(floats{2.0, 3.0})}) {
    EXPECT_EQ(output_of({image}, call("aten::upsample_nearest2d.vec", in(0), none, scale)).sizes(),
              at::IntArrayRef({1, 1, 8, 18}));
  }
}

TEST(binder, a_dtype_becomes_a_scalar_type) {
  EXPECT_EQ(output_of({numbers(2)}, call("aten::to.dtype", in(0), dtype::float16)).scalar_type(),
            at::kHalf);
  EXPECT_EQ(
      output_of({numbers(2)}, call("aten::softmax.int", in(0), 0, arg("dtype", dtype::float64)))
          .scalar_type(),
      at::kDouble);
}

TEST(binder, a_string_arrives) {
  EXPECT_EQ(output_of({at::ones({2, 3}), at::ones({3, 4})},
                      call("aten::einsum", "ij,jk->ki", list({in(0), in(1)})))
                .sizes(),
            at::IntArrayRef({4, 2}));
}

TEST(binder, every_kind_at_once) {
  const at::Tensor x = numbers(3);
  EXPECT_TRUE(output_of({x}, call("assay_test::kinds", in(0), true, 1, 1.5, "text", dtype::int8, 2,
                                  7, floats{1.0}, list({in(0), in(0)})))
                  .is_same(x));
}

TEST(binder, left_out_arguments_take_the_schemas_defaults) {
  // alpha is 1 and dtype is None.
  EXPECT_EQ(output_of({numbers(3), numbers(3)}, call("aten::add.Tensor", in(0), in(1)))
                .sum()
                .item<float>(),
            6.0F);
  EXPECT_EQ(output_of({numbers(3), numbers(3)},
                      call("aten::add.Tensor", in(0), arg("alpha", 10), arg("other", in(1))))
                .sum()
                .item<float>(),
            33.0F);
}

TEST(binder, none_stands_for_a_tensor_that_is_not_there) {
  EXPECT_EQ(
      output_of({at::ones({2, 3}), at::ones({4, 3})}, call("aten::linear", in(0), in(1), none))
          .sizes(),
      at::IntArrayRef({2, 4}));
}

TEST(binder, lists_of_tensors_take_inputs_and_results) {
  EXPECT_TRUE(at::equal(output_of({at::ones({1})}, call("aten::add.Scalar", in(0), 1),
                                  call("aten::cat", list({in(0), result(0), in(0)}))),
                        at::arange(3, at::kFloat).sub(1).abs().neg().add(2)));
  // A list of optional tensors.
  EXPECT_TRUE(at::equal(output_of({numbers(5), at::full({2}, 3, at::kLong)},
                                  call("aten::index.Tensor", in(0), list({in(1)}))),
                        at::full({2}, 3.0F)));
}

TEST(binder, lists_hold_the_inputs_that_were_set_last) {
  const made_check check("lists", {randn({1})}, call("aten::cat", list({in(0), in(0)})));
  engine::bound_plan plan(check.c_form());
  for (const float x : {1.0F, 2.0F}) {
    plan.set_inputs({at::full({1}, x)});
    plan.run();
    plan.run();
    EXPECT_TRUE(at::equal(plan.outputs().at(0), at::full({2}, x)));
  }
}

TEST(binder, a_list_result_is_picked_from_by_item) {
  EXPECT_TRUE(at::equal(output_of({numbers(6)}, call("aten::split.Tensor", in(0), 2),
                                  call("aten::sub.Tensor", result(0, 2), result(0, 0))),
                        at::full({2}, 4.0F)));
  EXPECT_TRUE(at::equal(output_of({numbers(6)}, call("aten::split.Tensor", in(0), 2),
                                  call("aten::cat", list({result(0, 1), result(0, 0)}))),
                        at::cat({numbers(4).slice(0, 2), numbers(2)})));
}

TEST(binder, a_tuple_result_is_picked_from_by_item) {
  const at::Tensor order =
      output_of({numbers(4)}, call("aten::sort", in(0), 0, true), call("aten::neg", result(0, 1)));
  EXPECT_EQ(order.scalar_type(), at::kLong);
  EXPECT_EQ(order[0].item<std::int64_t>(), -3);
}

TEST(binder, outputs_are_every_tensor_of_the_last_call) {
  const auto maximum = outputs_of({at::ones({2, 3})}, call("aten::max.dim", in(0), 1));
  ASSERT_EQ(maximum.size(), 2U);
  EXPECT_EQ(maximum[0].scalar_type(), at::kFloat);
  EXPECT_EQ(maximum[1].scalar_type(), at::kLong);

  const auto parts = outputs_of({numbers(5)}, call("aten::split.Tensor", in(0), 2));
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[2].numel(), 1);

  const auto nested = outputs_of({numbers(1)}, call("assay_test::nested", in(0)));
  ASSERT_EQ(nested.size(), 3U);
  EXPECT_EQ(nested[2].item<float>(), 2.0F);

  EXPECT_TRUE(outputs_of({numbers(1)}, call("aten::size.int", in(0), 0)).empty());
}

TEST(binder, it_can_be_run_again_and_lets_go_of_its_results) {
  const made_check check("again", {randn({1})}, call("aten::add.Scalar", in(0), 1));
  engine::bound_plan plan(check.c_form());
  plan.set_inputs({at::ones({1})});
  plan.run();
  const at::Tensor first = plan.outputs().at(0);
  plan.run();
  EXPECT_FALSE(plan.outputs().at(0).is_same(first));
  EXPECT_EQ(first.use_count(), 1U);
  plan.release_results();
  EXPECT_TRUE(plan.outputs().empty());
}

}  // namespace assay::tests
