// SPDX-License-Identifier: Apache-2.0
// Operators that have no kernel for the CPU: each is another operator on rearranged arguments.
#include <ATen/Context.h>
#include <ATen/EmptyTensor.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/transformers/attention.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels.h"
#include "native_kernel.h"
#include "slow_path.h"

namespace assay_simulated {
namespace {

using c10::IValue;
using torch::jit::Stack;

using Rearrange = void (*)(Stack& stack);

class RearrangedKernel final : public c10::OperatorKernel {
 public:
  RearrangedKernel(std::unique_ptr<NativeKernel> kernel, Rearrange before, Rearrange after)
      : kernel_(std::move(kernel)), before_(before), after_(after) {}
  void operator()(const c10::OperatorHandle& /*op*/, c10::DispatchKeySet /*keys*/, Stack* stack) {
    before_(*stack);
    kernel_->call(*stack);
    if (after_) after_(*stack);
  }

 private:
  std::unique_ptr<NativeKernel> kernel_;
  Rearrange before_;
  Rearrange after_;
};

// Replaces the last `count` values by those that `make` builds from them.
template <typename Make>
void rearrange(Stack& stack, size_t count, Make&& make) {
  const Stack old(stack.end() - static_cast<std::ptrdiff_t>(count), stack.end());
  torch::jit::drop(stack, count);
  for (auto& value : make(old)) stack.push_back(std::move(value));
}

// (self, weight, bias, padding, stride, dilation, groups, benchmark, deterministic)
void miopen_convolution(Stack& stack) {
  rearrange(stack, 9, [](const Stack& a) {
    const std::vector<int64_t> none(a[3].toIntVector().size(), 0);
    return Stack{a[0], a[1], a[2], a[4], a[3], a[5], false, none, a[6]};
  });
}

// (self, weight, bias, padding, output_padding, stride, dilation, groups, benchmark, deterministic)
void miopen_convolution_transpose(Stack& stack) {
  rearrange(stack, 10, [](const Stack& a) {
    return Stack{a[0], a[1], a[2], a[5], a[3], a[6], true, a[4], a[7]};
  });
}

// (self, weight, kernel_size, bias, stride, padding, dilation)
void conv_depthwise(Stack& stack) {
  rearrange(stack, 7, [](const Stack& a) {
    const std::vector<int64_t> none(a[2].toIntVector().size(), 0);
    return Stack{a[0], a[1], a[3], a[4], a[5], a[6], false, none, a[0].toTensor().size(1)};
  });
}

// (input, weight, bias, running_mean, running_var, training, factor, epsilon)
void miopen_batch_norm(Stack&) {}

// (input, grad_output, weight, running_mean, running_var, save_mean, save_var, epsilon)
void miopen_batch_norm_backward(Stack& stack) {
  rearrange(stack, 8, [](const Stack& a) {
    return Stack{a[1], a[0], a[2], a[3], a[4],
                 a[5], a[6], true, a[7], c10::List<bool>({true, true, true})};
  });
}

// (query, key, value, dropout_p, is_causal, return_debug_mask, scale)
void flash_attention(Stack& stack) {
  rearrange(stack, 7,
            [](const Stack& a) { return Stack{a[0], a[1], a[2], a[3], a[4], IValue(), a[6]}; });
}
// (query, key, value, attn_bias, compute_log_sumexp, dropout_p, is_causal, scale)
void efficient_attention(Stack& stack) {
  rearrange(stack, 8,
            [](const Stack& a) { return Stack{a[0], a[1], a[2], a[5], a[6], a[3], a[7]}; });
}

IValue nothing() {
  return at::Tensor(at::detail::empty_generic({0}, device_allocator(),
                                              c10::DispatchKeySet(c10::DispatchKey::CUDA),
                                              at::kLong, std::nullopt));
}
void efficient_attention_results(Stack& stack) {
  stack.insert(stack.end(), {nothing(), nothing()});
}
// (output, logsumexp) and what only the backward pass reads
void flash_attention_results(Stack& stack) {
  const int64_t length = stack[stack.size() - 2].toTensor().size(2);
  stack.insert(stack.end(), {IValue(at::Tensor()), IValue(at::Tensor()), length, length, nothing(),
                             nothing(), nothing()});
}

// As LibTorch's own choice explains itself, heading by heading, where it has no kernel left.
void explain_attention(const at::Tensor& query, const std::optional<at::Tensor>& mask,
                       double dropout) {
  for (const char* kernel : {"Memory efficient", "Flash"}) {
    TORCH_WARN(kernel, std::string_view(kernel) == "Flash" ? " attention" : "",
               " kernel not used because:");
    if (on_slow_path()) {
      TORCH_WARN(kernel, " attention was not compiled for current AMD GPU architecture. ",
                 "Attempting to run on architecture gfx0000 (simulated)");
    } else if (query.dim() != 4) {
      TORCH_WARN("All fused kernels requires query, key and value to be 4 dimensional, but got ",
                 "Query dim: ", query.dim());
    } else if (mask && mask->defined()) {
      TORCH_WARN(kernel, " attention does not support an attention mask here.");
    } else if (dropout != 0.0) {
      TORCH_WARN(kernel, " attention does not support dropout here.");
    } else {
      TORCH_WARN(kernel, " attention does not support query dtype ", query.scalar_type());
    }
  }
}

int64_t choose_attention(const at::Tensor& query, const at::Tensor&, const at::Tensor&,
                         const std::optional<at::Tensor>& mask, double dropout, bool,
                         std::optional<double>, bool) {
  enum Backend : int64_t { math, flash, efficient };  // as in sdp::SDPBackend
  const bool fused = query.dim() == 4 && !(mask && mask->defined()) && dropout == 0.0 &&
                     !query.requires_grad() && !on_slow_path();
  const auto type = query.scalar_type();
  const auto& allowed = at::globalContext();
  if (fused && (type == at::kHalf || type == at::kBFloat16) && allowed.userEnabledFlashSDP()) {
    return flash;
  }
  if (fused && type == at::kFloat && allowed.userEnabledMemEfficientSDP()) return efficient;
  if (!allowed.userEnabledMathSDP()) explain_attention(query, mask, dropout);
  TORCH_CHECK(allowed.userEnabledMathSDP(), "No available kernel. Aborting execution.");
  return math;
}

struct Entry {
  const char* name;
  const char* runs;
  Rearrange before;
  Rearrange after = nullptr;
};

constexpr Entry entries[] = {
    {"aten::miopen_convolution", "aten::convolution", &miopen_convolution},
    {"aten::miopen_depthwise_convolution", "aten::convolution", &miopen_convolution},
    {"aten::miopen_convolution_transpose", "aten::convolution", &miopen_convolution_transpose},
    {"aten::miopen_batch_norm", "aten::native_batch_norm", &miopen_batch_norm},
    {"aten::miopen_batch_norm_backward", "aten::native_batch_norm_backward",
     &miopen_batch_norm_backward},
    {"aten::_conv_depthwise2d", "aten::convolution", &conv_depthwise},
    {"aten::conv_depthwise3d", "aten::convolution", &conv_depthwise},
    {"aten::_scaled_dot_product_flash_attention",
     "aten::_scaled_dot_product_flash_attention_for_cpu", &flash_attention,
     &flash_attention_results},
    {"aten::_scaled_dot_product_efficient_attention",
     "aten::_scaled_dot_product_flash_attention_for_cpu", &efficient_attention,
     &efficient_attention_results},
};

}  // namespace

void register_gpu_only_kernels() {
  auto& dispatcher = c10::Dispatcher::singleton();
  for (const auto& entry : entries) {
    const auto op = dispatcher.findSchema({entry.name, ""});
    const auto runs = dispatcher.findSchema({entry.runs, ""});
    if (!op || !runs) continue;
    auto kernel = std::make_unique<NativeKernel>(*runs, entry.name, entry.name,
                                                 switches().faults_of(entry.name, ""));
    register_kernel(
        *op, c10::KernelFunction::makeFromBoxedFunctor(
                 std::make_unique<RearrangedKernel>(std::move(kernel), entry.before, entry.after)));
  }
}

}  // namespace assay_simulated

namespace at::native {
REGISTER_CUDA_DISPATCH(_fused_sdp_choice_stub, &assay_simulated::choose_attention)
}  // namespace at::native
