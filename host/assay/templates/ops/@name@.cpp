// The checks of @name@. A check is data: inputs, and a plan that names operators by their schema.
// It is not compiled against LibTorch, so that this one binary serves every version of it.
#include <assay/plugin.hpp>

using namespace assay;

namespace {

// SwiGLU as language models use it: one product for gate and value, silu(gate) * value.
// One function of the sizes makes the small form and the large one.
check swiglu(std::int64_t tokens, std::int64_t width, std::int64_t hidden) {
  const shape x{tokens, width};
  const shape weight{2 * hidden, width};
  const double half = static_cast<double>(tokens * hidden);  // elements of gate or value
  check made("swiglu", {randn(x), uniform(weight, -0.05, 0.05)},
             {call("aten::linear", in(0), in(1)), call("aten::chunk", result(0), 2, -1),
              call("aten::silu", result(1, 0)), call("aten::mul.Tensor", result(2), result(1, 1))});
  return made
      // What must go through the memory: x, the weights, and what each call reads and writes of
      // gate and value: the product both of them, silu one in and one out, mul two in and one out.
      .moves(elements_of(x) + elements_of(weight) + 7.0 * half)
      .matrix_flops(2.0 * 2.0 * half * static_cast<double>(width))
      // Each step rounds; the longest sum behind one output element has `width` terms.
      .contracts(16, static_cast<double>(width))
      .path("tensile", fast, runs_kernel("Cijk_*"))
      .path("cublas", fast, runs_kernel("*gemm*"))
      .summary("the gated unit of a language model's feed-forward part");
}

}  // namespace

ASSAY_PLUGIN("@id@", "0.1.0", "@vendor@")(registry& plugin) {
  auto& group = plugin.category("@name@", "operators of @name@");
  group.add(swiglu(64, 256, 512)).large(swiglu(8192, 4096, 8192));

  // The shortest form: what is not said is worked out from inputs and outputs.
  group.check("gelu_tanh", {randn({128, 1024})},
              call("aten::gelu", in(0), arg("approximate", "tanh")));
}
