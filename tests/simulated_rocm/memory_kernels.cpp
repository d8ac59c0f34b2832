// SPDX-License-Identifier: Apache-2.0
#include <ATen/EmptyTensor.h>
#include <ATen/ExpandUtils.h>
#include <ATen/core/Tensor.h>
#include <ATen/record_function.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/TensorOptions.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "faults.h"
#include "kernels.h"
#include "memory.h"
#include "queue.h"

namespace assay_simulated {
namespace {

using at::Tensor;
using c10::IntArrayRef;

c10::Device device_or_current(std::optional<c10::Device> device) {
  return device && device->has_index() ? *device : c10::Device(c10::kCUDA, current_device());
}

Tensor empty_memory_format(IntArrayRef sizes, std::optional<at::ScalarType> dtype,
                           std::optional<at::Layout> /*layout*/, std::optional<c10::Device> device,
                           std::optional<bool> /*pin_memory*/,
                           std::optional<at::MemoryFormat> format) {
  const c10::DeviceGuard guard(device_or_current(device));
  return at::detail::empty_generic(sizes, device_allocator(),
                                   c10::DispatchKeySet(c10::DispatchKey::CUDA),
                                   c10::dtype_or_default(dtype), format);
}

Tensor empty_strided(IntArrayRef sizes, IntArrayRef strides, std::optional<at::ScalarType> dtype,
                     std::optional<at::Layout> /*layout*/, std::optional<c10::Device> device,
                     std::optional<bool> /*pin_memory*/) {
  return empty_device_tensor(sizes, strides, c10::dtype_or_default(dtype),
                             device_or_current(device).index());
}

std::string_view copy_name(const Tensor& to, const Tensor& from) {
  if (!from.is_cuda()) return "Memcpy HtoD (Host -> Device)";
  if (!to.is_cuda()) return "Memcpy DtoH (Device -> Host)";
  if (from.device() != to.device()) return "Memcpy PtoP (Device -> Device)";
  return "Memcpy DtoD (Device -> Device)";
}

void copy_values(const Tensor& to, const Tensor& from, bool non_blocking) {
  throw_if_poisoned();
  static const Faults faults = switches().faults_of("aten::copy_", "");
  if (faults.slow_submit_ns) wait_until_steady(steady_ns() + faults.slow_submit_ns);
  const at::DisableRecordFunctionGuard unseen;
  const bool between_devices = to.is_cuda() && from.is_cuda() && to.device() != from.device();
  if (between_devices) synchronize_device(to.device().index());
  HostAliases aliases;
  const Tensor source = from.is_cuda() || !non_blocking ? aliases.of(from) : from.clone();
  const Tensor target = aliases.of(to);
  auto& queue = current_queue(from.is_cuda() ? from.device().index() : to.device().index());
  const bool plain = to.scalar_type() == from.scalar_type() && to.is_contiguous() &&
                     from.is_contiguous() && to.sizes() == from.sizes();
  const bool on_one_device = to.is_cuda() && from.is_cuda() && !between_devices;
  // Strides and dtypes are changed by a kernel, as on a GPU.
  const bool is_kernel = on_one_device && !plain;
  Work work{.body =
                [source, target] {
                  kernel_faults(faults);
                  target.copy_(source);
                },
            .name = is_kernel ? "simulated_copy_kernel" : copy_name(to, from),
            .kind = is_kernel ? WorkKind::kernel : WorkKind::copy,
            .minimum_ns = switches().kernel_ns(faults),
            .bytes = static_cast<int64_t>(to.nbytes())};
  if (on_one_device || (non_blocking && !between_devices)) {
    TORCH_CHECK(at::is_expandable_to(from.sizes(), to.sizes()), "The size of tensor a ", to.sizes(),
                " must match the size of tensor b ", from.sizes());
    queue.submit(std::move(work));
  } else {
    queue.run(std::move(work));
  }
}

Tensor& copy_(Tensor& self, const Tensor& source, bool non_blocking) {
  copy_values(self, source, non_blocking);
  return self;
}

Tensor copy_from(const Tensor& self, const Tensor& target, bool non_blocking) {
  copy_values(target, self, non_blocking);
  return target;
}

const Tensor& resize_(const Tensor& self, IntArrayRef sizes,
                      std::optional<at::MemoryFormat> format) {
  std::vector<int64_t> strides(sizes.size());
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= std::max<int64_t>(sizes[i], 1);
  }
  resize_device_tensor(self, sizes, strides);
  if (format && *format != at::MemoryFormat::Preserve) {
    self.unsafeGetTensorImpl()->empty_tensor_restride(*format);
  }
  return self;
}

Tensor copy_from_and_resize(const Tensor& self, const Tensor& target) {
  if (target.is_cuda()) {
    resize_(target, self.sizes(), std::nullopt);
  } else {
    target.resize_(self.sizes());
  }
  copy_values(target, self, false);
  return target;
}

at::Scalar local_scalar_dense(const Tensor& self) {
  throw_if_poisoned();
  const at::DisableRecordFunctionGuard unseen;
  HostAliases aliases;
  const auto scalar = std::make_shared<at::Scalar>();
  const Tensor source = aliases.of(self);
  current_queue(self.device().index())
      .run({.body = [source, scalar] { *scalar = source.item(); },
            .name = "Memcpy DtoH (Device -> Host)",
            .kind = WorkKind::copy,
            .bytes = static_cast<int64_t>(self.itemsize())});
  return *scalar;
}

void record_stream(Tensor& /*self*/, c10::Stream /*stream*/) {
  // Work keeps the storages that it uses.
}

// The CPU's kernel touches only sizes, strides and storages, whatever device they are on.
void metadata_kernel(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
}

bool is_view(const c10::FunctionSchema& schema) {
  for (const auto& result : schema.returns()) {
    if (result.alias_info() && !result.alias_info()->isWrite()) return true;
  }
  return false;
}

}  // namespace

void register_memory_kernels(torch::Library& library) {
  library.impl("empty.memory_format", &empty_memory_format);
  library.impl("empty_strided", &empty_strided);
  library.impl("copy_", &copy_);
  library.impl("_copy_from", &copy_from);
  library.impl("_copy_from_and_resize", &copy_from_and_resize);
  library.impl("resize_", &resize_);
  library.impl("_local_scalar_dense", &local_scalar_dense);
  library.impl("record_stream", &record_stream);

  const auto metadata = c10::KernelFunction::makeFromBoxedFunction<&metadata_kernel>;
  auto& dispatcher = c10::Dispatcher::singleton();
  for (const char* name : {"source_Tensor", "source_Storage", "source_Storage_storage_offset"}) {
    register_kernel(dispatcher.findSchemaOrThrow("aten::set_", name), metadata());
  }
  for (const auto& name : dispatcher.getAllOpNames()) {
    const auto op = dispatcher.findOp(name);
    if (name.name.starts_with("aten::") && op && op->hasSchema() && is_view(op->schema()) &&
        op->hasKernelForDispatchKey(c10::DispatchKey::CPU)) {
      register_kernel(*op, metadata());
    }
  }
}

}  // namespace assay_simulated
