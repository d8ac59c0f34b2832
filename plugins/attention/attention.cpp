// SPDX-License-Identifier: Apache-2.0
#include <assay/plugin.hpp>

using namespace assay;

namespace {

// Batch, heads, positions, head size.
struct heads {
  std::int64_t batch, count, positions, size;
  [[nodiscard]] shape sizes() const { return {batch, count, positions, size}; }
  [[nodiscard]] double elements() const {
    return static_cast<double>(batch * count * positions * size);
  }
  // Two products of positions x positions x size for each head.
  [[nodiscard]] double flops() const { return 4.0 * elements() * static_cast<double>(positions); }
};

check attention(const char* name, const heads& h, double flops, std::vector<operator_call> plan) {
  check made(name, {randn(h.sizes())}, std::move(plan));
  // Queries, keys and values are one tensor here, read once.
  made.moves(2.0 * h.elements()).matrix_flops(flops).contracts(8, static_cast<double>(h.positions));
  return made;
}

check fused(const char* name, const heads& h, bool causal) {
  return attention(name, h, causal ? h.flops() / 2.0 : h.flops(),
                   {causal ? call("aten::scaled_dot_product_attention", in(0), in(0), in(0),
                                  arg("is_causal", true))
                           : call("aten::scaled_dot_product_attention", in(0), in(0), in(0))})
      .path("math", slow, runs_operator("aten::_scaled_dot_product_attention_math*"))
      .path("aotriton", fast, runs_kernel("attn_fwd*"))
      .path("cudnn", fast, runs_operator("aten::_scaled_dot_product_cudnn_attention"))
      .path("flash", fast, runs_operator("aten::_scaled_dot_product_flash_attention*"))
      .path("efficient", fast, runs_operator("aten::_scaled_dot_product_efficient_attention"))
      .path("overrideable", acceptable,
            runs_operator("aten::_scaled_dot_product_fused_attention_overrideable"));
}

check manual(const heads& h) {
  // 1 / sqrt(64)
  return attention("manual_attention", h, h.flops(),
                   {call("aten::transpose.int", in(0), -1, -2),  //
                    call("aten::matmul", in(0), result(0)),      //
                    call("aten::mul.Scalar", result(1), 0.125),  //
                    call("aten::softmax.int", result(2), -1),    //
                    call("aten::matmul", result(3), in(0))})
      // What its calls read and write one after the other: the scores go out three times and in
      // again three times.
      .moves(3.0 * h.elements() +
             6.0 * static_cast<double>(h.batch * h.count * h.positions * h.positions))
      .path("tensile", fast, runs_kernel("Cijk_*"))
      .path("cublas", fast, runs_kernel("nvjet*"))
      .path("cublas", fast, runs_kernel("*cutlass*"))
      .path("cublas", fast, runs_kernel("*xmma*"))
      .path("blas", fast, runs_kernel("*gemm*"));
}

}  // namespace

ASSAY_PLUGIN("attention", "0.1", "assay project")(registry& plugin) {
  auto& group = plugin.category("attention", "attention, fused and spelled out");
  constexpr heads classic{2, 8, 256, 64};
  constexpr heads filling{4, 16, 2048, 64};
  // The scores alone are 512 MiB in float32.
  constexpr heads filling_spelled_out{2, 16, 2048, 64};

  group.add(fused("sdpa", classic, false)).large(fused("sdpa", filling, false));
  group.add(fused("sdpa_causal", classic, true)).large(fused("sdpa_causal", filling, true));
  group.add(manual(classic)).large(manual(filling_spelled_out));
}
