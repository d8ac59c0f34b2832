// SPDX-License-Identifier: Apache-2.0
#include "checks.hpp"

using namespace assay;

namespace llm {
namespace {

std::vector<input> inputs_of(const model& m) {
  return {randn({m.rows(), m.hidden}), uniform({m.hidden}, 0.5, 1.5)};
}

/// x / sqrt(mean(x^2) + epsilon) * weight, call by call; `first` is the position of the first call,
/// and `x` what it works on.
std::vector<operator_call> written_out(const value& x, std::uint32_t first, double epsilon) {
  return {call("aten::pow.Tensor_Scalar", x, 2),
          call("aten::mean.dim", result(first), ints{-1}, true),
          call("aten::add.Scalar", result(first + 1), epsilon),
          call("aten::rsqrt", result(first + 2)), call("aten::mul.Tensor", x, result(first + 3))};
}

}  // namespace

check rms_norm(const model& m, double epsilon) {
  const double n = elements_of({m.rows(), m.hidden});
  return check("rms_norm", inputs_of(m),
               {call("aten::rms_norm", in(0), ints{m.hidden}, in(1), epsilon)})
      .summary("RMSNorm by LibTorch's own operator")
      .moves(2.0 * n + static_cast<double>(m.hidden))
      .rounds(8, static_cast<double>(m.hidden))
      // First: without a fused kernel, as on the CPU, aten::_fused_rms_norm is itself composed.
      .path("composed", acceptable, runs_operator("aten::rsqrt"))
      .path("fused", fast, runs_operator("aten::_fused_rms_norm"));
}

check rms_norm_upcast(const model& m, double epsilon) {
  const double n = elements_of({m.rows(), m.hidden});
  std::vector<operator_call> plan = written_out(result(0), 1, epsilon);
  plan.insert(plan.begin(), call("aten::to.dtype", in(0), dtype::float32));
  plan.push_back(call("aten::to.dtype", result(5), dtype::of_check));
  plan.push_back(call("aten::mul.Tensor", result(6), in(1)));

  // Without the conversions, or the reference in float64 would be rounded to float32 on the way.
  std::vector<operator_call> reference = written_out(in(0), 0, epsilon);
  reference.push_back(call("aten::mul.Tensor", result(4), in(1)));

  return check("rms_norm_upcast", inputs_of(m), plan)
      .summary("RMSNorm as models write it: computed in float32 between two conversions")
      .reference(reference)
      // Of the check's dtype: x is read; the norm is written, read and written again. In float32
      // seven times x goes in or out of a call.
      .moves(4.0 * n + static_cast<double>(m.hidden), 7.0 * 4.0 * n)
      .rounds(4, static_cast<double>(m.hidden))
      .dtypes({dtype::bfloat16, dtype::float16})  // in float32 nothing would be converted
      .path("native", fast, runs_kernel("*at::native::*"));
}

}  // namespace llm
