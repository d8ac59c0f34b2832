// SPDX-License-Identifier: Apache-2.0
#include "host/common/generator.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <sstream>

#include "golden.hpp"

namespace assay {
namespace {

// golden/generator.txt comes from generator_reference.py, not from this test.
TEST(generator, gives_the_bits_of_the_python_reference) {
  const auto golden = std::filesystem::path(__FILE__).parent_path() / "golden" / "generator.txt";
  std::istringstream lines(testing_support::file_text(golden));
  std::string expected;
  int count = 0;
  while (std::getline(lines, expected)) {
    std::istringstream words(expected);
    std::string check;
    std::uint32_t position = 0;
    std::uint64_t seed = 0;
    std::uint64_t i = 0;
    words >> check >> position >> seed >> i;
    const std::uint64_t z = draw(input_seed(check, position, seed), i);
    EXPECT_EQ(expected, fmt::format("{} {} {} {} {:016x} {:08x} {:016x} {} {:d}", check, position,
                                    seed, i, z, std::bit_cast<std::uint32_t>(normal_value(z)),
                                    std::bit_cast<std::uint64_t>(uniform_value(z, -0.3, 1.7, true)),
                                    index_value(z, -5.0, 1000.0), mask_value(z, 0.25)));
    ++count;
  }
  EXPECT_EQ(count, 20);
}

TEST(generator, normal_has_the_moments_it_promises) {
  const std::uint64_t h = input_seed("norm/layer_norm", 0, 0);
  constexpr int count = 1'000'000;
  double sum = 0;
  double squares = 0;
  double largest = 0;
  for (int i = 0; i < count; ++i) {
    const double v = normal_value(draw(h, static_cast<std::uint64_t>(i)));
    ASSERT_NE(v, 0.0);
    sum += v;
    squares += v * v;
    largest = std::max(largest, std::abs(v));
  }
  EXPECT_NEAR(sum / count, 0.0, 0.005);
  EXPECT_NEAR(std::sqrt(squares / count), 1.0, 0.005);
  EXPECT_LT(largest, 3.5);
  EXPECT_GT(largest, 3.0);
}

TEST(generator, normal_extremes) {
  EXPECT_LT(std::abs(normal_value(0)), 3.5F);
  EXPECT_LT(std::abs(normal_value(~std::uint64_t{0})), 3.5F);
  // Four fields that add up to the mean: the value would be 0.
  EXPECT_NE(normal_value(0xFFFF'FFFF'0000'0000U), 0.0F);
}

TEST(generator, uniform_stays_in_range_and_off_zero) {
  const std::uint64_t h = input_seed("elementwise/div", 0, 7);
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    const double v = uniform_value(draw(h, i), -2.0, 3.0, true);
    ASSERT_GE(v, -2.0);
    ASSERT_LT(v, 3.0);
    ASSERT_NE(v, 0.0);
  }
  EXPECT_EQ(uniform_value(0, 0.0, 4.0, true), 2.0);
  EXPECT_EQ(uniform_value(0, 0.0, 4.0, false), 0.0);
  EXPECT_EQ(uniform_value(std::uint64_t{1} << 63, -1.0, 1.0, true), 0.5);
  EXPECT_EQ(uniform_value(0, 0.0, 0.0, true), 0.0);  // an empty range has nothing else to give
}

TEST(generator, indices_reach_every_value_of_the_range_and_no_other) {
  const std::uint64_t h = input_seed("indexing/gather", 1, 0);
  int seen[7] = {};
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    const std::int64_t v = index_value(draw(h, i), -3.0, 4.0);
    ASSERT_GE(v, -3);
    ASSERT_LT(v, 4);
    ++seen[v + 3];
  }
  for (const int count : seen) {
    EXPECT_NEAR(count, 10'000 / 7, 200);
  }
  EXPECT_EQ(index_value(~std::uint64_t{0}, 0.0, 1000.0), 999);
}

TEST(generator, mask_is_true_as_often_as_asked) {
  const std::uint64_t h = input_seed("indexing/masked_fill", 1, 0);
  int count = 0;
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    count += mask_value(draw(h, i), 0.25) ? 1 : 0;
  }
  EXPECT_NEAR(count, 25'000, 700);
}

TEST(generator, every_part_of_the_seed_matters) {
  const std::uint64_t h = input_seed("elementwise/add", 0, 0);
  EXPECT_NE(h, input_seed("elementwise/add", 1, 0));
  EXPECT_NE(h, input_seed("elementwise/mul", 0, 0));
  EXPECT_NE(h, input_seed("elementwise/add", 0, 1));
  EXPECT_NE(draw(h, 0), draw(h, 1));
}

}  // namespace
}  // namespace assay
