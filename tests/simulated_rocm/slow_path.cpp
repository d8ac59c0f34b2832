// SPDX-License-Identifier: Apache-2.0
#include "slow_path.h"

#include <ATen/Context.h>
#include <ATen/core/stack.h>

#include <memory>

namespace assay_simulated {
namespace {

thread_local int nested = 0;

// What keeps LibTorch from cuDNN keeps it from MIOpen.
struct WithoutFastPaths {
  WithoutFastPaths() {
    ++nested;
    at::globalContext().setUserEnabledCuDNN(false);
  }
  WithoutFastPaths(const WithoutFastPaths&) = delete;
  WithoutFastPaths& operator=(const WithoutFastPaths&) = delete;
  ~WithoutFastPaths() {
    --nested;
    at::globalContext().setUserEnabledCuDNN(allowed);
  }
  const bool allowed = at::globalContext().userEnabledCuDNN();
};

class SlowPathKernel final : public c10::OperatorKernel {
 public:
  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet /*keys*/,
                  torch::jit::Stack* stack) {
    const WithoutFastPaths without;
    const auto& arguments = op.schema().arguments();
    const size_t first = stack->size() - arguments.size();
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i].name().starts_with("cudnn_enable")) (*stack)[first + i] = false;
    }
    // The CPU has no kernel of its own here: this is the composition.
    op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
  }
};

}  // namespace

bool has_slow_path(const c10::OperatorHandle& op) {
  return !op.hasKernelForDispatchKey(c10::DispatchKey::CPU) &&
         op.hasComputedKernelForDispatchKey(c10::DispatchKey::CPU);
}

c10::KernelFunction slow_path_kernel() {
  return c10::KernelFunction::makeFromBoxedFunctor(std::make_unique<SlowPathKernel>());
}

bool on_slow_path() { return nested > 0; }

}  // namespace assay_simulated
