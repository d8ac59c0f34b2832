// SPDX-License-Identifier: Apache-2.0
#include "checks.hpp"

#include <algorithm>
#include <cmath>

using namespace assay;

namespace llm {
namespace {

/// Weights as a model begins with: products keep the size of their inputs, or float16 would
/// overflow.
input weights(std::int64_t out, std::int64_t in) {
  const double bound = std::sqrt(3.0 / static_cast<double>(in));
  return uniform({out, in}, -bound, bound);
}

check made(const char* name, std::int64_t rows, const model& m) {
  const double x = elements_of({rows, m.hidden});
  const double inner = elements_of({rows, m.intermediate});
  const double matrix = elements_of({m.hidden, m.intermediate});
  return check(name,
               {randn({rows, m.hidden}), weights(m.intermediate, m.hidden),
                weights(m.intermediate, m.hidden), weights(m.hidden, m.intermediate)},
               {call("aten::linear", in(0), in(1)), call("aten::silu", result(0)),
                call("aten::linear", in(0), in(2)), call("aten::mul.Tensor", result(1), result(2)),
                call("aten::linear", result(3), in(3))})
      // linear: x in, inner out, twice; silu: in, out; mul: two in, one out; linear: in, x out.
      .moves(3.0 * x + 8.0 * inner + 3.0 * matrix)
      .matrix_flops(6.0 * static_cast<double>(rows) * matrix)
      .contracts(12, static_cast<double>(m.hidden + m.intermediate))
      .path("tensile", fast, runs_kernel("Cijk_*"))  // rocBLAS and hipBLASLt
      .path("cublas", fast, runs_kernel("nvjet*"))
      .path("cublas", fast, runs_kernel("*cutlass*"))
      .path("blas", fast, runs_kernel("*gemm*"))
      .path("blas", fast, runs_kernel("*gemv*"))
      .path("mkldnn", fast, runs_operator("aten::mkldnn_linear*"));
}

}  // namespace

check swiglu(const model& m) {
  // Of the large model not all rows: 512 fill a device, and the reference stays affordable.
  return made("swiglu", std::min<std::int64_t>(m.rows(), 512), m)
      .summary("the MLP of a decoder layer, for a prompt");
}

check swiglu_decode(const model& m) {
  return made("swiglu_decode", m.batch, m)
      .summary("the MLP for one new token a sequence, where reading the weights takes the time");
}

}  // namespace llm
