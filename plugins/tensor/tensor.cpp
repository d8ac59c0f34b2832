// SPDX-License-Identifier: Apache-2.0
#include <assay/plugin.hpp>

using namespace assay;

namespace {

struct size {
  std::int64_t rows, columns;
  [[nodiscard]] input values() const { return randn({rows, columns}); }
  [[nodiscard]] double elements() const { return static_cast<double>(rows * columns); }
};
constexpr size classic{128, 512};
constexpr size filling{32768, 4096};  // 512 MiB in float32

check cat(const size& s) {
  return check("cat", {s.values(), s.values()}, {call("aten::cat", list({in(0), in(1)}))})
      .moves(4.0 * s.elements())
      .exact()
      .path("native", fast, runs_kernel("*at::native::*"));
}

check transpose_contiguous(const size& s) {
  return check("transpose_contiguous", {s.values()},
               {call("aten::t", in(0)), call("aten::contiguous", result(0))})
      .moves(2.0 * s.elements())
      .exact()
      .path("native", fast, runs_kernel("*at::native::*"));
}

// Its logarithms are of sums over a row, its mean is over the rows.
check cross_entropy(const size& s) {
  return check("cross_entropy", {s.values(), indices({s.rows}, s.columns)},
               {call("aten::cross_entropy_loss", in(0), in(1))})
      .moves(s.elements(), 8.0 * static_cast<double>(s.rows))
      .rounds(16, static_cast<double>(s.rows + s.columns))
      .path("native", fast, runs_kernel("*at::native::*"))
      .path("native", fast, runs_kernel("*softmax*"));
}

}  // namespace

ASSAY_PLUGIN("tensor", "0.1", "assay project")(registry& plugin) {
  auto& group = plugin.category("tensor", "rearranging tensors, and the loss");
  group.add(cat(classic)).large(cat(filling));
  group.add(transpose_contiguous(classic)).large(transpose_contiguous(filling));
  group.add(cross_entropy(classic)).large(cross_entropy(filling));
}
