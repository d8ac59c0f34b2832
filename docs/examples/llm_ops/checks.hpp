// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <assay/plugin.hpp>

#include <cstdint>

namespace llm {

/// The sizes of one decoder layer, named as in a model's configuration.
struct model {
  std::int64_t batch, tokens, hidden, intermediate, heads;
  [[nodiscard]] std::int64_t rows() const { return batch * tokens; }
  [[nodiscard]] std::int64_t head() const { return hidden / heads; }
};

/// LibTorch's one operator, and the same as most models write it: in float32 whatever the dtype.
assay::check rms_norm(const model& m, double epsilon);
assay::check rms_norm_upcast(const model& m, double epsilon);

/// Rotary embedding with the halves swapped, and by complex numbers.
assay::check rotary_halves(const model& m);
assay::check rotary_complex(const model& m);

/// down(silu(gate x) * up x), of all tokens and of the one that is generated.
assay::check swiglu(const model& m);
assay::check swiglu_decode(const model& m);

}  // namespace llm
