// SPDX-License-Identifier: Apache-2.0
#include "checks.hpp"

using namespace assay;

namespace llm {

check rotary_halves(const model& m) {
  const shape sizes{m.batch, m.heads, m.tokens, m.head()};
  const shape table{m.tokens, m.head()};
  const double n = elements_of(sizes);
  const std::int64_t half = m.head() / 2;

  // A model keeps the cosines and sines of all positions, so that they are inputs here.
  return check("rotary_halves",
               {randn(sizes), uniform(table, -1.0, 1.0), uniform(table, -1.0, 1.0)},
               {call("aten::slice.Tensor", in(0), -1, half, m.head()), call("aten::neg", result(0)),
                call("aten::slice.Tensor", in(0), -1, 0, half),
                call("aten::cat", list({result(1), result(2)}), -1),
                call("aten::mul.Tensor", in(0), in(1)), call("aten::mul.Tensor", result(3), in(2)),
                call("aten::add.Tensor", result(4), result(5))})
      .summary("rotary position embedding, the halves of each head rotated")
      // neg: half of x in, half out; cat: in, out; two mul: in, out each; add: two in, one out.
      .moves(10.0 * n + 2.0 * elements_of(table))
      .rounds(3)
      .path("native", fast, runs_kernel("*at::native::*"));
}

check rotary_complex(const model& m) {
  const shape sizes{m.batch, m.tokens, m.heads, m.head() / 2, 2};
  const shape table{m.tokens, 1, m.head() / 2};
  const double n = elements_of(sizes);

  return check("rotary_complex", {randn(sizes), uniform(table, 0.0, 6.25)},
               {call("aten::cos", in(1)), call("aten::sin", in(1)),
                call("aten::complex", result(0), result(1)), call("aten::view_as_complex", in(0)),
                call("aten::mul.Tensor", result(3), result(2)),
                call("aten::view_as_real", result(4))})
      .summary("rotary position embedding, neighbours as complex numbers")
      // x goes in and out once; of the table cos and sin, complex, and the product are five calls'
      // inputs and outputs.
      .moves(2.0 * n + 10.0 * elements_of(table))
      .rounds(8)
      .dtypes({dtype::float32, dtype::float64})  // there are no complex numbers of two bfloat16
      .path("native", fast, runs_kernel("*at::native::*"));
}

}  // namespace llm
