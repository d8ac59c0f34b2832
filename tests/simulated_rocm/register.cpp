// SPDX-License-Identifier: Apache-2.0
// Puts the kernels into LibTorch's dispatcher when the library is opened.
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/native/CPUFallback.h>
#include <torch/library.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "faults.h"
#include "kernels.h"
#include "native_kernel.h"
#include "queue.h"
#include "slow_path.h"
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
  return (fused_on_gpus().contains(name.name) || named.contains(name.name) ||
          named.contains(name.name + "." + name.overload_name)) &&
         op.hasComputedKernelForDispatchKey(c10::DispatchKey::CPU);
}

[[noreturn]] void refuse(const std::string& why) {
  std::fprintf(stderr, "simulated ROCm device: SIMULATED_ROCM: %s\n", why.c_str());
  std::_Exit(2);
}

void check_switches(const std::set<std::string>& known) {
  for (const auto& [name, faults] : switches().named()) {
    if (!known.contains(name)) refuse("no operator is called " + name);
  }
}

// Calls of an operator that has no kernel for the device.
void fall_back(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const auto& name = op.operator_name();
  if (!switches().faults_of(name.name, name.overload_name).cpu_fallback) {
    throw_missing(c10::toString(name));
  }
  throw_if_poisoned();
  at::native::cpu_fallback(op, stack);
}

const bool registered = [] {
  // Leaked: kernels stay registered until the process has gone.
  auto* library = std::make_unique<torch::Library>(torch::Library::IMPL, "aten",
                                                   c10::DispatchKey::CUDA, __FILE__, __LINE__)
                      .release();
  register_memory_kernels(*library);
  register_gpu_only_kernels();
  register_native_kernels();
  return true;
}();

void register_with(const c10::OperatorHandle& op, c10::KernelFunction kernel,
                   std::unique_ptr<c10::FunctionSchema> schema) {
  static auto* leaked = new std::vector<c10::RegistrationHandleRAII>;
  leaked->push_back(c10::Dispatcher::singleton().registerImpl(
      op.operator_name(), c10::DispatchKey::CUDA, std::move(kernel), std::nullopt,
      std::move(schema), "simulated ROCm device"));
}

void register_without_schema(const c10::OperatorHandle& op, c10::KernelFunction kernel) {
  register_with(op, std::move(kernel), nullptr);
}

}  // namespace

void register_kernel(const c10::OperatorHandle& op, c10::KernelFunction kernel) {
  // As inferred from a C++ function without symbolic sizes.
  constexpr bool symbolic = false;
  register_with(op, std::move(kernel),
                std::make_unique<c10::FunctionSchema>(op.schema().cloneWithRealTypes(symbolic)));
}

void register_native_kernels() {
  auto& dispatcher = c10::Dispatcher::singleton();
  std::set<std::string> known;
  bool needs_fallback = false;
  for (const auto& name : dispatcher.getAllOpNames()) {
    const auto op = dispatcher.findOp(name);
    if (!name.name.starts_with("aten::") || !op || !op->hasSchema()) continue;
    const auto shown = c10::toString(name);
    known.insert({name.name, shown});
    if (!belongs_to_device(name, *op)) continue;
    const auto faults = switches().faults_of(name.name, name.overload_name);
    if (faults.slow_path) {
      if (!has_slow_path(*op)) refuse("LibTorch has no slower path for " + shown);
      register_kernel(*op, slow_path_kernel());
      continue;
    }
    // The dispatcher prefers a composition to a fallback: then a kernel has to fall back.
    if (faults.cpu_fallback && !op->hasComputedKernelForDispatchKey(c10::DispatchKey::CUDA)) {
      needs_fallback = true;
      continue;
    }
    auto kernel = c10::KernelFunction::makeFromBoxedFunctor(std::make_unique<BoxedNativeKernel>(
        std::make_unique<NativeKernel>(*op, name.name, shown, faults)));
    if (faults.cpu_fallback) {
      register_without_schema(*op, std::move(kernel));
    } else {
      register_kernel(*op, std::move(kernel));
    }
  }
  if (needs_fallback) {
    static const auto* leaked = new c10::RegistrationHandleRAII(dispatcher.registerFallback(
        c10::DispatchKey::CUDA, c10::KernelFunction::makeFromBoxedFunction<&fall_back>(),
        "simulated ROCm device"));
    (void)leaked;
  }
  check_switches(known);
}

}  // namespace assay_simulated
