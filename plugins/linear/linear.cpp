// SPDX-License-Identifier: Apache-2.0
#include <assay/plugin.hpp>

using namespace assay;

ASSAY_PLUGIN("linear", "0.1", "assay project")(registry& plugin) {
  const input x = randn({128, 512});
  const input weight = randn({512, 512});
  const input bias = randn({512});
  const input matrices = randn({16, 128, 128});
  auto& group = plugin.category("linear", "matrix products");

  // What Python's `@` calls; it picks aten::mm for two matrices and aten::bmm for two batches.
  group.check("mm", {x, weight}, call("aten::matmul", in(0), in(1)));
  group.check("bmm", {matrices, matrices}, call("aten::matmul", in(0), in(1)));

  group.check("linear", {x, weight, bias}, call("aten::linear", in(0), in(1), in(2)));
  group.check("addmm", {bias, x, weight}, call("aten::addmm", in(0), in(1), in(2)));
  group.check("einsum", {matrices, matrices},
              call("aten::einsum", "bij,bjk->bik", list({in(0), in(1)})));

  // float32 in, and the conversions belong to the check: what mixed precision costs.
  const input x32 = randn({128, 512}, dtype::float32);
  const input weight32 = randn({512, 512}, dtype::float32);
  const auto converted = [&](const char* name, dtype to) {
    group
        .check(name, {x32, weight32},              //
               call("aten::to.dtype", in(0), to),  //
               call("aten::to.dtype", in(1), to),  //
               call("aten::linear", result(0), result(1)))
        .dtypes({to});
  };
  converted("linear_fp16", dtype::float16);
  converted("linear_bf16", dtype::bfloat16);
}
