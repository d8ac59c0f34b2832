// SPDX-License-Identifier: Apache-2.0
#include <assay/plugin.hpp>

using namespace assay;

namespace {

struct size {
  std::int64_t rows, columns, picked;  // `picked` of the rows are read or written
  [[nodiscard]] shape sizes() const { return {rows, columns}; }
  [[nodiscard]] double elements() const { return static_cast<double>(rows * columns); }
  [[nodiscard]] double picked_elements() const { return static_cast<double>(picked * columns); }
  [[nodiscard]] double index_bytes() const { return 8.0 * static_cast<double>(picked); }
};
constexpr size classic{128, 512, 64};
constexpr size filling{65536, 2048, 32768};
// It writes 16 bytes for each element that it finds.
constexpr size filling_nonzero{16384, 2048, 0};

check indexed(const char* name, std::vector<input> inputs, std::vector<operator_call> plan) {
  check made(name, std::move(inputs), std::move(plan));
  made.exact()
      .path("native", fast, runs_kernel("*at::native::*"))
      .path("native", fast, runs_kernel("*cub::*"))
      .path("native", fast, runs_kernel("*rocprim::*"));
  return made;
}

check embedding(std::int64_t words, std::int64_t width, const shape& ids) {
  const auto count = static_cast<double>(ids[0] * ids[1]);
  return indexed("embedding", {randn({words, width}), indices(ids, words)},
                 {call("aten::embedding", in(0), in(1))})
      .moves(2.0 * count * static_cast<double>(width), 8.0 * count);
}

check index_select(const size& s) {
  return indexed("index_select", {randn(s.sizes()), indices({s.picked}, s.rows)},
                 {call("aten::index_select", in(0), 0, in(1))})
      .moves(2.0 * s.picked_elements(), s.index_bytes());
}

check gather(const size& s) {
  return indexed("gather", {randn(s.sizes()), indices({s.picked}, s.rows)},
                 {call("aten::unsqueeze", in(1), 1),
                  call("aten::expand", result(0), ints{s.picked, s.columns}),
                  call("aten::gather", in(0), 0, result(1))})
      .moves(2.0 * s.picked_elements(), s.index_bytes());
}

// Into zeros, which are written, and read and written once more. Sums of a few terms in any order.
check scatter_add(const size& s) {
  check made =
      indexed("scatter_add", {randn(s.sizes()), indices({s.picked}, s.rows), randn(s.sizes())},
              {call("aten::zeros_like", in(0)), call("aten::unsqueeze", in(1), 1),
               call("aten::expand", result(1), ints{s.picked, s.columns}),
               call("aten::slice.Tensor", in(2), 0, 0, s.picked),
               call("aten::scatter_add", result(0), 0, result(2), result(3))});
  return made.moves(3.0 * s.elements() + s.picked_elements(), s.index_bytes()).rounds(8);
}

// The mask is written and read, a byte for each element.
check masked_fill(const size& s) {
  return indexed("masked_fill", {randn(s.sizes())},
                 {call("aten::gt.Scalar", in(0), 0),
                  call("aten::masked_fill.Scalar", in(0), result(0), 0.0)})
      .moves(3.0 * s.elements(), 2.0 * s.elements());
}

// Half of the elements are above 0, and each gives two indices. The mask goes out and in again.
check nonzero(const size& s) {
  return indexed("nonzero", {randn(s.sizes())},
                 {call("aten::gt.Scalar", in(0), 0), call("aten::nonzero", result(0))})
      .moves(s.elements(), 10.0 * s.elements());
}

}  // namespace

ASSAY_PLUGIN("indexing", "0.1", "assay project")(registry& plugin) {
  auto& group = plugin.category("indexing", "reading and writing at computed places");
  group.add(embedding(1000, 256, {8, 128})).large(embedding(250000, 512, {64, 4096}));
  group.add(index_select(classic)).large(index_select(filling));
  group.add(gather(classic)).large(gather(filling));
  group.add(scatter_add(classic)).large(scatter_add(filling));
  group.add(masked_fill(classic)).large(masked_fill(filling));
  group.add(nonzero(classic)).large(nonzero(filling_nonzero));
}
