// SPDX-License-Identifier: Apache-2.0
#include <assay/plugin.hpp>

using namespace assay;

namespace {

struct size {
  std::int64_t rows, columns;
  [[nodiscard]] double elements() const { return static_cast<double>(rows * columns); }
};
constexpr size classic{128, 512};
constexpr size filling{65536, 2048};         // 512 MiB in float32
constexpr size filling_sorted{16384, 2048};  // 8 bytes more for each index, and work space

check reduction(const size& s, const char* name, double outputs, double index_bytes,
                operator_call called) {
  check made(name, {randn({s.rows, s.columns})}, {std::move(called)});
  made.moves(s.elements() + outputs, index_bytes)
      .path("native", fast, runs_kernel("*at::native::*"))
      .path("native", fast, runs_kernel("*cub::*"))
      .path("native", fast, runs_kernel("*rocprim::*"));
  return made;
}

check total(const size& s) {
  return reduction(s, "sum", 1, 0, call("aten::sum", in(0))).rounds(2, s.elements());
}

check by_row(const size& s, const char* name, const char* op) {
  const auto rows = static_cast<double>(s.rows);
  return reduction(s, name, rows, 0, call(op, in(0), ints{-1}))
      .rounds(4, static_cast<double>(s.columns));
}

// Values are picked, not computed; of equal ones any index is right.
check picked(const size& s, const char* name, double values, double picks, operator_call called) {
  return reduction(s, name, values, 8.0 * picks, std::move(called)).exact().picks(0, -1);
}

}  // namespace

ASSAY_PLUGIN("reduction", "0.1", "assay project")(registry& plugin) {
  auto& group = plugin.category("reduction", "reductions, scans and sorting");
  const auto add = [&](auto make, const size& large) {
    group.add(make(classic)).large(make(large));
  };

  add(total, filling);
  add([](const size& s) { return by_row(s, "mean", "aten::mean.dim"); }, filling);
  add(
      [](const size& s) {
        const auto rows = static_cast<double>(s.rows);
        return picked(s, "max", rows, rows, call("aten::max.dim", in(0), -1));
      },
      filling);
  add(
      [](const size& s) {
        return picked(s, "argmax", 0, static_cast<double>(s.rows), call("aten::argmax", in(0), -1));
      },
      filling);
  add([](const size& s) { return by_row(s, "var", "aten::var.dim"); }, filling);
  add(
      [](const size& s) {
        // On a GPU the half types' running sums are kept in them: seen are errors of 2.3 roundings.
        return reduction(s, "cumsum", s.elements(), 0, call("aten::cumsum", in(0), -1))
            .rounds(8, static_cast<double>(s.columns));
      },
      filling);
  add(
      [](const size& s) {
        const double chosen = 10.0 * static_cast<double>(s.rows);
        return picked(s, "topk", chosen, chosen, call("aten::topk", in(0), 10));
      },
      filling);
  add(
      [](const size& s) {
        return picked(s, "sort", s.elements(), s.elements(), call("aten::sort", in(0), -1));
      },
      filling_sorted);
}
