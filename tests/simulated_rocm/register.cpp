// SPDX-License-Identifier: Apache-2.0
// Puts the kernels into LibTorch's dispatcher when the library is opened.
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "kernels.h"
#include "native_kernel.h"
#include "switches.h"

namespace assay_simulated {
namespace {

class BoxedNativeKernel final : public c10::OperatorKernel {
 public:
  explicit BoxedNativeKernel(std::unique_ptr<NativeKernel> kernel) : kernel_(std::move(kernel)) {}
  void operator()(const c10::OperatorHandle& /*op*/, c10::DispatchKeySet /*keys*/,
                  torch::jit::Stack* stack) {
    kernel_->call(*stack);
  }

 private:
  std::unique_ptr<NativeKernel> kernel_;
};

// Operators that PyTorch has a GPU kernel for although the CPU composes them of others.
const std::set<std::string>& fused_on_gpus() {
  static const std::set<std::string> names = {"aten::_fused_rms_norm"};
  return names;
}

bool belongs_to_device(const c10::OperatorName& name, const c10::OperatorHandle& op) {
  if (op.hasKernelForDispatchKey(c10::DispatchKey::CUDA)) return false;
  // It makes a tensor of the CPU whatever it is asked for.
  if (name.name == "aten::_efficientzerotensor") return false;
  if (op.hasKernelForDispatchKey(c10::DispatchKey::CPU)) return true;
  // A planted fault may name an operator that is composed of others.
  const auto& named = switches().named();
  return (fused_on_gpus().count(name.name) || named.count(name.name) ||
          named.count(name.name + "." + name.overload_name)) &&
         op.hasComputedKernelForDispatchKey(c10::DispatchKey::CPU);
}

void check_switches(const std::set<std::string>& known) {
  for (const auto& [name, faults] : switches().named()) {
    if (known.count(name)) continue;
    std::fprintf(stderr, "simulated ROCm device: SIMULATED_ROCM: no operator is called %s\n",
                 name.c_str());
    std::_Exit(2);
  }
}

const bool registered = [] {
  // Leaked: kernels stay registered until the process has gone.
  auto* library = std::make_unique<torch::Library>(torch::Library::IMPL, "aten",
                                                   c10::DispatchKey::CUDA, __FILE__, __LINE__)
                      .release();
  register_memory_kernels(*library);
  register_gpu_only_kernels(*library);
  register_native_kernels(*library);
  return true;
}();

}  // namespace

void register_native_kernels(torch::Library& library) {
  auto& dispatcher = c10::Dispatcher::singleton();
  std::set<std::string> known;
  for (const auto& name : dispatcher.getAllOpNames()) {
    const auto op = dispatcher.findOp(name);
    if (!name.name.starts_with("aten::") || !op || !op->hasSchema()) continue;
    const auto shown = c10::toString(name);
    known.insert({name.name, shown});
    if (!belongs_to_device(name, *op)) continue;
    auto kernel = std::make_unique<NativeKernel>(
        *op, name.name, shown, switches().faults_of(name.name, name.overload_name));
    library.impl(shown.c_str(), torch::CppFunction::makeFromBoxedFunctor(
                                    std::make_unique<BoxedNativeKernel>(std::move(kernel))));
  }
  check_switches(known);
}

}  // namespace assay_simulated
