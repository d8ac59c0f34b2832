// SPDX-License-Identifier: Apache-2.0
//
// An op pack kept outside assay: what the layers of a Llama-like model do between their attention.
#include "checks.hpp"

namespace {

// The proportions of Llama 2 7B. The small form is done in milliseconds by a CPU; at the large one
// a tensor of activations takes 256 MiB in float32, as do one and a half matrices of the MLP.
constexpr llm::model classic{1, 32, 512, 1376, 8};
constexpr llm::model filling{4, 4096, 4096, 11008, 32};

}  // namespace

ASSAY_PLUGIN("com.example.llm_ops", "1.0", "Example Ltd")(assay::registry& plugin) {
  // Turns up in `assay list`; `--set com.example.llm_ops.eps=1e-5` is Llama 3's.
  const double epsilon = plugin.option("eps", 1e-6, "epsilon of the norms", 1e-12, 1e-1);

  assay::requirements needed;
  needed.dtype_arithmetic = true;  // else every check would fail for one reason
  plugin.needs(needed);

  auto& group = plugin.category("llm", "layers of Llama-like language models");
  group.add(llm::rms_norm(classic, epsilon)).large(llm::rms_norm(filling, epsilon));
  group.add(llm::rms_norm_upcast(classic, epsilon)).large(llm::rms_norm_upcast(filling, epsilon));
  group.add(llm::rotary_halves(classic)).large(llm::rotary_halves(filling));
  group.add(llm::rotary_complex(classic)).large(llm::rotary_complex(filling));
  group.add(llm::swiglu(classic)).large(llm::swiglu(filling));
  group.add(llm::swiglu_decode(classic)).large(llm::swiglu_decode(filling));
}
