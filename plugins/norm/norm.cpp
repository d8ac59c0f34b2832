// SPDX-License-Identifier: Apache-2.0
#include <assay/plugin.hpp>

using namespace assay;

namespace {

// `terms`: elements behind one mean.
check normalised(const char* name, const shape& sizes, double terms, operator_call called) {
  check made(name, {randn(sizes)}, {std::move(called)});
  made.moves(2.0 * elements_of(sizes)).rounds(8, terms);
  return made;
}

check layer_norm(std::int64_t rows, std::int64_t columns) {
  return normalised("layer_norm", {rows, columns}, static_cast<double>(columns),
                    call("aten::layer_norm", in(0), ints{columns}))
      .path("native", fast, runs_operator("aten::native_layer_norm"));
}

check rms_norm(std::int64_t rows, std::int64_t columns) {
  return normalised("rms_norm", {rows, columns}, static_cast<double>(columns),
                    call("aten::rms_norm", in(0), ints{columns}))
      // First: without a fused kernel, as on the CPU, aten::_fused_rms_norm is itself composed.
      .path("composed", acceptable, runs_operator("aten::rsqrt"))
      .path("fused", fast, runs_operator("aten::_fused_rms_norm"));
}

// Neither weights nor running statistics, so that the statistics are those of the input. Without
// weights LibTorch takes neither MIOpen nor cuDNN, so that its own kernel is as it should be.
check statistics_norm(const char* name, const char* op, const shape& sizes, double terms,
                      const char* flag) {
  return normalised(name, sizes, terms,
                    call(op, in(0), none, none, none, none, arg(flag, true), arg("momentum", 0.1),
                         arg("eps", 1e-5), arg("cudnn_enabled", true)))
      .path("miopen", fast, runs_operator("aten::miopen_batch_norm"))
      .path("cudnn", fast, runs_operator("aten::cudnn_batch_norm"))
      .path("native", acceptable, runs_operator("aten::*native_batch_norm*"))
      .path("native", acceptable, runs_operator("aten::_batch_norm*"));
}

check batch_norm(const shape& s) {
  return statistics_norm("batch_norm", "aten::batch_norm", s,
                         elements_of(s) / static_cast<double>(s[1]), "training");
}

check instance_norm(const shape& s) {
  return statistics_norm("instance_norm", "aten::instance_norm", s,
                         static_cast<double>(s[2] * s[3]), "use_input_stats");
}

check group_norm(const shape& s) {
  const std::int64_t group_elements = s[1] / 8 * s[2] * s[3];
  return normalised("group_norm", s, static_cast<double>(group_elements),
                    call("aten::group_norm", in(0), 8))
      .path("native", fast, runs_operator("aten::native_group_norm"));
}

}  // namespace

ASSAY_PLUGIN("norm", "0.1", "assay project")(registry& plugin) {
  auto& group = plugin.category("norm", "normalisation layers");
  const shape image{8, 64, 56, 56};
  const shape pictures{64, 128, 112, 112};  // 392 MiB in float32

  group.add(layer_norm(128, 512)).large(layer_norm(65536, 2048));
  group.add(rms_norm(128, 512)).large(rms_norm(65536, 2048));
  group.add(batch_norm(image)).large(batch_norm(pictures));
  group.add(group_norm(image)).large(group_norm(pictures));
  group.add(instance_norm(image)).large(instance_norm(pictures));
}
