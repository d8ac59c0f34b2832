// SPDX-License-Identifier: Apache-2.0
#include <assay/plugin.hpp>

using namespace assay;

namespace {

struct product {
  std::int64_t batch, m, n, k;
  [[nodiscard]] double flops() const { return 2.0 * static_cast<double>(batch * m * n * k); }
  [[nodiscard]] double elements() const {
    return static_cast<double>(batch * (m * k + k * n + m * n));
  }
};
constexpr product classic{1, 128, 512, 512};
constexpr product filling{1, 8192, 4096, 4096};
constexpr product classic_batch{16, 128, 128, 128};
constexpr product filling_batch{64, 1024, 1024, 1024};

check multiplied(const char* name, const product& p, std::vector<input> inputs,
                 std::vector<operator_call> plan) {
  check made(name, std::move(inputs), std::move(plan));
  made.moves(p.elements())
      .matrix_flops(p.flops())
      .contracts(2, static_cast<double>(p.k))
      .path("tensile", fast, runs_kernel("Cijk_*"))  // rocBLAS and hipBLASLt
      .path("cublas", fast, runs_kernel("nvjet*"))
      .path("cublas", fast, runs_kernel("*cutlass*"))
      .path("cublas", fast, runs_kernel("*xmma*"))
      .path("cublas", fast, runs_kernel("*cublas*"))
      .path("blas", fast, runs_kernel("*gemm*"))
      .path("blas", fast, runs_kernel("*gemv*"))
      .path("mkldnn", fast, runs_operator("aten::mkldnn_linear*"));
  return made;
}

// What Python's `@` calls; it picks aten::mm for two matrices and aten::bmm for two batches.
check mm(const product& p) {
  return multiplied("mm", p, {randn({p.m, p.k}), randn({p.k, p.n})},
                    {call("aten::matmul", in(0), in(1))});
}

check bmm(const product& p) {
  return multiplied("bmm", p, {randn({p.batch, p.m, p.k}), randn({p.batch, p.k, p.n})},
                    {call("aten::matmul", in(0), in(1))});
}

check linear(const product& p) {
  return multiplied("linear", p, {randn({p.m, p.k}), randn({p.n, p.k}), randn({p.n})},
                    {call("aten::linear", in(0), in(1), in(2))});
}

check addmm(const product& p) {
  return multiplied("addmm", p, {randn({p.n}), randn({p.m, p.k}), randn({p.k, p.n})},
                    {call("aten::addmm", in(0), in(1), in(2))});
}

check einsum(const product& p) {
  return multiplied("einsum", p, {randn({p.batch, p.m, p.k}), randn({p.batch, p.k, p.n})},
                    {call("aten::einsum", "bij,bjk->bik", list({in(0), in(1)}))});
}

// float32 in, and the conversions belong to the check: what mixed precision costs.
check converted(const product& p, const char* name, dtype to) {
  const auto inputs = static_cast<double>(p.m * p.k + p.n * p.k);
  const auto outputs = static_cast<double>(p.m * p.n);
  check made =
      multiplied(name, p, {randn({p.m, p.k}, dtype::float32), randn({p.n, p.k}, dtype::float32)},
                 {call("aten::to.dtype", in(0), to), call("aten::to.dtype", in(1), to),
                  call("aten::linear", result(0), result(1))});
  // Each input is read in float32, written and read again in the other type.
  made.moves(2.0 * inputs + outputs, 4.0 * inputs)
      .contracts(4, static_cast<double>(p.k))
      .reference({call("aten::linear", in(0), in(1))})
      .dtypes({to});
  return made;
}

}  // namespace

ASSAY_PLUGIN("linear", "0.1", "assay project")(registry& plugin) {
  auto& group = plugin.category("linear", "matrix products");
  group.add(mm(classic)).large(mm(filling));
  group.add(bmm(classic_batch)).large(bmm(filling_batch));
  group.add(linear(classic)).large(linear(filling));
  group.add(addmm(classic)).large(addmm(filling));
  group.add(einsum(classic_batch)).large(einsum(filling_batch));
  for (const auto& [name, to] :
       {std::pair{"linear_fp16", dtype::float16}, std::pair{"linear_bf16", dtype::bfloat16}}) {
    group.add(converted(classic, name, to)).large(converted(filling, name, to));
  }
}
