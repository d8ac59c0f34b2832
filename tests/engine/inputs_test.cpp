// SPDX-License-Identifier: Apache-2.0
#include "inputs.hpp"

#include <ATen/ops/equal.h>
#include <gtest/gtest.h>

#include "bind.hpp"
#include "host/common/generator.hpp"
#include "made_check.hpp"

namespace assay::tests {

namespace {

constexpr std::int64_t count = 4099;

std::vector<at::Tensor> inputs_of(const char* name, std::vector<input> inputs,
                                  std::int32_t dtype = ASSAY_DTYPE_FLOAT32,
                                  std::uint64_t run_seed = 0) {
  const made_check check(name, std::move(inputs), call("aten::relu", in(0)));
  return engine::make_inputs(check.c_form(), dtype, at::kCPU, run_seed);
}

at::Tensor only_input(input wanted, std::int32_t dtype = ASSAY_DTYPE_FLOAT32) {
  return inputs_of("only", {std::move(wanted)}, dtype).at(0);
}

template <typename Scalar, typename Make>
void expect_elements(const at::Tensor& made, Make&& make) {
  ASSERT_EQ(made.numel(), count);
  ASSERT_TRUE(made.is_contiguous());
  const std::uint64_t h = input_seed("made/only", 0, 0);
  const auto* data = made.const_data_ptr<Scalar>();
  for (std::int64_t i = 0; i < count; ++i) {
    ASSERT_EQ(data[i], static_cast<Scalar>(make(draw(h, static_cast<std::uint64_t>(i))))) << i;
  }
}

}  // namespace

TEST(inputs, the_same_seed_gives_the_same_bits) {
  EXPECT_TRUE(at::equal(inputs_of("x", {randn({count})})[0], inputs_of("x", {randn({count})})[0]));
}

TEST(inputs, another_check_or_position_or_run_seed_gives_others) {
  const auto two = inputs_of("x", {randn({count}), randn({count})});
  EXPECT_FALSE(at::equal(two[0], two[1]));
  EXPECT_FALSE(at::equal(two[0], inputs_of("y", {randn({count})})[0]));
  EXPECT_FALSE(at::equal(two[0], inputs_of("x", {randn({count})}, ASSAY_DTYPE_FLOAT32, 1)[0]));
}

TEST(inputs, floating_types_hold_the_generators_bits_rounded) {
  const auto normal = [](std::uint64_t z) { return normal_value(z); };
  expect_elements<float>(only_input(randn({count})), normal);
  expect_elements<double>(only_input(randn({count}), ASSAY_DTYPE_FLOAT64), normal);
  expect_elements<c10::Half>(only_input(randn({count}), ASSAY_DTYPE_FLOAT16), normal);
  expect_elements<c10::BFloat16>(only_input(randn({count}), ASSAY_DTYPE_BFLOAT16), normal);
  expect_elements<float>(only_input(uniform({count}, -2.0, 6.0)),
                         [](std::uint64_t z) { return uniform_value(z, -2.0, 6.0, true); });
}

TEST(inputs, whole_numbers_and_masks_hold_the_generators_bits) {
  const auto index = [](std::uint64_t z) { return index_value(z, 0, 100); };
  expect_elements<std::int64_t>(only_input(indices({count}, 100)), index);
  expect_elements<std::int32_t>(only_input({{count}, dtype::int32, ASSAY_FILL_INDEX, 0.0, 100.0}),
                                index);
  expect_elements<std::uint8_t>(only_input({{count}, dtype::uint8, ASSAY_FILL_INDEX, 0.0, 100.0}),
                                index);
  expect_elements<bool>(only_input(mask({count}, 0.25)),
                        [](std::uint64_t z) { return mask_value(z, 0.25); });
}

TEST(inputs, normal_values_stay_below_3_5_and_off_zero) {
  for (const std::int32_t dtype : {ASSAY_DTYPE_FLOAT32, ASSAY_DTYPE_FLOAT16}) {
    const at::Tensor x = only_input(randn({1 << 18}), dtype).to(at::kDouble);
    EXPECT_LT(x.abs().max().item<double>(), 3.5);
    EXPECT_GT(x.abs().min().item<double>(), 0.0);
    EXPECT_NEAR(x.mean().item<double>(), 0.0, 0.01);
    EXPECT_NEAR(x.std().item<double>(), 1.0, 0.01);
  }
}

TEST(inputs, uniform_values_stay_in_their_range_and_off_zero) {
  const at::Tensor x = only_input(uniform({1 << 18}, -1.0, 3.0));
  EXPECT_GE(x.min().item<float>(), -1.0F);
  EXPECT_LE(x.max().item<float>(), 3.0F);
  EXPECT_GT(x.abs().min().item<float>(), 0.0F);
  EXPECT_NEAR(x.mean().item<float>(), 1.0F, 0.01F);
  // Whole numbers may be 0, and never reach the upper end.
  const at::Tensor whole = only_input(uniform({1 << 12}, -1.0, 3.0, dtype::int32));
  EXPECT_EQ(whole.min().item<int>(), -1);
  EXPECT_EQ(whole.max().item<int>(), 2);
}

TEST(inputs, indices_reach_both_ends_of_their_range) {
  const at::Tensor x = only_input(indices({count}, 7));
  EXPECT_EQ(x.scalar_type(), at::kLong);
  EXPECT_EQ(x.min().item<std::int64_t>(), 0);
  EXPECT_EQ(x.max().item<std::int64_t>(), 6);
}

TEST(inputs, a_mask_is_true_as_often_as_asked) {
  const at::Tensor x = only_input(mask({1 << 16}, 0.25));
  EXPECT_EQ(x.scalar_type(), at::kBool);
  EXPECT_NEAR(x.to(at::kFloat).mean().item<float>(), 0.25F, 0.01F);
}

TEST(inputs, shapes_are_as_declared_down_to_scalars) {
  EXPECT_EQ(only_input(randn({2, 3, 5})).sizes(), at::IntArrayRef({2, 3, 5}));
  EXPECT_EQ(only_input(randn({})).dim(), 0);
}

TEST(inputs, strides_lay_the_same_values_out_otherwise) {
  const at::Tensor plain = only_input(randn({3, 4}));
  const at::Tensor transposed = only_input(strided(randn({3, 4}), {1, 3}));
  EXPECT_EQ(transposed.strides().vec(), (std::vector<std::int64_t>{1, 3}));
  EXPECT_TRUE(at::equal(transposed, plain));
  const at::Tensor padded = only_input(strided(randn({3, 4}), {10, 2}));
  EXPECT_TRUE(at::equal(padded, plain));
  const at::Tensor repeated = only_input(strided(randn({3, 4}), {0, 1}));
  EXPECT_EQ(repeated.storage().nbytes(), 4 * sizeof(float));
  for (std::int64_t row = 0; row < 3; ++row) {
    EXPECT_TRUE(at::equal(repeated[row], plain[0]));
  }
  EXPECT_EQ(only_input(strided(randn({3, 0}), {1, 3})).numel(), 0);
}

TEST(inputs, an_empty_one_has_no_elements) {
  EXPECT_EQ(only_input(randn({0, 5})).sizes().vec(), (std::vector<std::int64_t>{0, 5}));
}

TEST(inputs, distinct_indices_differ_along_each_dimension) {
  const at::Tensor made = only_input(distinct_indices({5, 7}, 7));
  EXPECT_GE(made.min().item<std::int64_t>(), 0);
  EXPECT_LT(made.max().item<std::int64_t>(), 7);
  for (std::int64_t row = 0; row < 5; ++row) {
    for (std::int64_t column = 0; column < 7; ++column) {
      for (std::int64_t other = 0; other < column; ++other) {
        EXPECT_NE(made[row][column].item<std::int64_t>(), made[row][other].item<std::int64_t>());
      }
      for (std::int64_t other = 0; other < row; ++other) {
        EXPECT_NE(made[row][column].item<std::int64_t>(), made[other][column].item<std::int64_t>());
      }
    }
  }
  // More places than values: they come round again, in range.
  EXPECT_LT(only_input(distinct_indices({50}, 7)).max().item<std::int64_t>(), 7);
}

TEST(inputs, what_cannot_be_filled_so_is_a_fault_of_the_plan) {
  const auto fault = [](input wanted) {
    try {
      only_input(std::move(wanted));
    } catch (const engine::plan_error& e) {
      return std::string(e.what());
    }
    return std::string("(it was made)");
  };
  EXPECT_EQ(fault(randn({2}, dtype::int64)), "input 0 cannot be filled as asked in Long");
  EXPECT_EQ(fault({{2}, dtype::float32, ASSAY_FILL_MASK, 0.5, 0.0}),
            "input 0 cannot be filled as asked in Float");
  EXPECT_EQ(fault({{2}, dtype::boolean, ASSAY_FILL_INDEX, 0.0, 2.0}),
            "input 0 cannot be filled as asked in Bool");
}

}  // namespace assay::tests
