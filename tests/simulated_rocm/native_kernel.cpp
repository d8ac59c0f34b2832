// SPDX-License-Identifier: Apache-2.0
#include "native_kernel.h"

#include <ATen/EmptyTensor.h>
#include <ATen/core/enum_tag.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/_local_scalar_dense.h>
#include <ATen/record_function.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

#include "faults.h"
#include "hooks.h"
#include "library_logs.h"
#include "spoil.h"
#include "values.h"

namespace assay_simulated {
namespace {

using c10::IValue;
using torch::jit::Stack;

enum Tag : int64_t {
  tag_none,
  tag_undefined,
  tag_tensor,
  tag_int,
  tag_double,
  tag_bool,
  tag_string,
  tag_list,
  tag_device
};

bool add_to_key(const IValue& value, std::vector<int64_t>& key) {
  const auto add_tensor = [&](const at::Tensor& item) {
    if (!item.defined()) {
      key.push_back(tag_undefined);
      return;
    }
    key.insert(key.end(), {tag_tensor, static_cast<int64_t>(item.scalar_type()),
                           item.device().is_cpu() ? 1 : 0, item.is_conj() ? 1 : 0,
                           item.unsafeGetTensorImpl()->is_wrapped_number() ? 1 : 0, item.dim()});
    key.insert(key.end(), item.sizes().begin(), item.sizes().end());
    key.insert(key.end(), item.strides().begin(), item.strides().end());
  };
  if (value.isNone()) {
    key.push_back(tag_none);
  } else if (value.isTensor()) {
    add_tensor(value.toTensor());
  } else if (value.isInt()) {
    key.insert(key.end(), {tag_int, value.toInt()});
  } else if (value.isDouble()) {
    key.insert(key.end(), {tag_double, std::bit_cast<int64_t>(value.toDouble())});
  } else if (value.isBool()) {
    key.insert(key.end(), {tag_bool, value.toBool() ? 1 : 0});
  } else if (value.isDevice()) {
    key.push_back(tag_device);
  } else if (value.isString()) {
    const auto& characters = value.toStringRef();
    key.insert(key.end(), {tag_string, static_cast<int64_t>(characters.size())});
    key.insert(key.end(), characters.begin(), characters.end());
  } else if (value.isIntList()) {
    const auto elements = value.toIntVector();
    key.insert(key.end(), {tag_list, static_cast<int64_t>(elements.size())});
    key.insert(key.end(), elements.begin(), elements.end());
  } else if (value.isList()) {
    key.insert(key.end(), {tag_list, static_cast<int64_t>(value.toListRef().size())});
    for (const auto& element : value.toListRef()) {
      if (!add_to_key(element, key)) return false;
    }
  } else {
    return false;
  }
  return true;
}

std::string kernel_name(const std::string& op, const Faults& faults) {
  // MIOpen's last resort.
  if (faults.slow_path && op.starts_with("aten::miopen_conv")) {
    return "naive_conv_ab_nonpacked_fwd_nchw_float_double_float";
  }
  return "simulated_" + op.substr(op.rfind(':') + 1) + "_kernel";
}

// At once: only for memory that no queue uses.
void write_to_device(const at::Tensor& tensor, const at::Tensor& values) {
  const c10::InferenceMode inference;
  HostAliases().of(tensor).copy_(values);
}

}  // namespace

size_t NativeKernel::HashKey::operator()(const Key& key) const {
  uint64_t hash = 1469598103934665603ULL;
  for (const int64_t part : key) hash = (hash ^ static_cast<uint64_t>(part)) * 1099511628211ULL;
  return hash;
}

NativeKernel::NativeKernel(const c10::OperatorHandle& runs, std::string name, std::string shown,
                           Faults faults)
    : runs_(runs),
      name_(std::move(name)),
      shown_(std::move(shown)),
      kernel_name_(kernel_name(name_, faults)),
      faults_(faults) {
  look_at_schema();
}

void NativeKernel::look_at_schema() {
  const auto& schema = runs_.schema();
  argument_count_ = schema.arguments().size();
  for (size_t i = 0; i < argument_count_; ++i) {
    const auto* alias = schema.arguments()[i].alias_info();
    if (alias && alias->isWrite()) written_.push_back(i);
  }
  for (const auto& result : schema.returns()) {
    int same = -1;
    if (result.alias_info()) {
      for (const size_t i : written_) {
        if (schema.arguments()[i].alias_info()->beforeSets() == result.alias_info()->beforeSets()) {
          same = static_cast<int>(i);
        }
      }
    }
    returned_argument_.push_back(same);
    const auto kind = result.type()->kind();
    if (same < 0 && kind != c10::TypeKind::TensorType) layouts_depend_on_data_ = true;
  }
  if (runs_.hasTag(at::Tag::dynamic_output_shape) || runs_.hasTag(at::Tag::data_dependent_output)) {
    layouts_depend_on_data_ = true;
    reads_its_result_ = true;
  }
  // What is composed of others is composed of their meta kernels.
  const bool composed = !runs_.hasKernelForDispatchKey(c10::DispatchKey::CPU);
  has_meta_ = composed ? runs_.hasComputedKernelForDispatchKey(c10::DispatchKey::Meta)
                       : runs_.hasKernelForDispatchKey(c10::DispatchKey::Meta);
  // These move index tensors to the device themselves.
  takes_any_device_ = name_.starts_with("aten::index") || name_.starts_with("aten::_index_put");
}

void NativeKernel::launch_faults() const {
  if (faults_.missing) throw_missing(shown_);
  if (faults_.oom) throw_out_of_memory();
  if (faults_.miopen_fail) throw_miopen_failure(name_);
  if (faults_.slow_submit_ns) wait_until_steady(steady_ns() + faults_.slow_submit_ns);
}

c10::DeviceIndex NativeKernel::find_device(c10::ArrayRef<IValue> arguments) const {
  std::optional<c10::Device> found;
  std::optional<c10::Device> other;
  for (const auto& argument : arguments) {
    for_each_tensor(argument, [&](const at::Tensor& tensor) {
      if (tensor.is_cuda()) {
        if (!found) found = tensor.device();
        if (tensor.device() != *found) other = tensor.device();
      } else if (tensor.dim() > 0 && !takes_any_device_) {
        other = tensor.device();
      }
    });
    if (argument.isDevice() && argument.toDevice().has_index() && !found) {
      found = argument.toDevice();
    }
  }
  if (found && other) {
    TORCH_CHECK(false, "Expected all tensors to be on the same device, but found at least two ",
                "devices, ", found->str(), " and ", other->str(), "! (when checking arguments of ",
                shown_, ")");
  }
  return found ? found->index() : current_device();
}

std::optional<NativeKernel::Key> NativeKernel::key_of(c10::ArrayRef<IValue> arguments) const {
  if (layouts_depend_on_data_) return std::nullopt;
  Key key;
  key.reserve(48);
  key.push_back(static_cast<int64_t>(c10::get_default_dtype_as_scalartype()));
  for (const auto& argument : arguments) {
    if (!add_to_key(argument, key)) return std::nullopt;
  }
  return key;
}

std::optional<NativeKernel::Layouts> NativeKernel::known_layouts(const std::optional<Key>& key) {
  if (!key) return std::nullopt;
  const std::lock_guard lock(mutex_);
  const auto found = layouts_.find(*key);
  return found == layouts_.end() ? std::nullopt : std::optional(found->second);
}

void NativeKernel::remember(const std::optional<Key>& key, Layouts layouts) {
  if (!key) return;
  const std::lock_guard lock(mutex_);
  if (layouts_.size() >= 256) layouts_.clear();
  layouts_.emplace(*key, std::move(layouts));
}

std::optional<std::pair<NativeKernel::Layouts, bool>> NativeKernel::layouts_from_meta(
    c10::ArrayRef<IValue> arguments) const {
  std::vector<std::pair<at::Tensor, at::Tensor>> metas;
  const auto meta_of = [&](const at::Tensor& tensor) {
    for (const auto& [known, meta] : metas) {
      if (known.is_same(tensor)) return meta;
    }
    // A scalar on the host may be read by the operator.
    if (tensor.is_cpu()) return tensor;
    at::Tensor meta =
        at::detail::empty_strided_meta(tensor.sizes(), tensor.strides(), tensor.scalar_type());
    if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) {
      meta.unsafeGetTensorImpl()->set_wrapped_number(true);
    }
    metas.emplace_back(tensor, meta);
    return meta;
  };
  Stack meta_stack;
  meta_stack.reserve(arguments.size());
  for (const auto& argument : arguments) {
    meta_stack.push_back(replaced(argument, c10::kMeta, meta_of));
  }
  try {
    const c10::InferenceMode inference;
    runs_.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::Meta), &meta_stack);
  } catch (const c10::NotImplementedError&) {
    return std::nullopt;
  }
  Layouts layouts;
  for (size_t i = 0; i < meta_stack.size(); ++i) {
    if (returned_argument_[i] >= 0) continue;
    const auto& result = meta_stack[i].toTensor();
    Layout layout;
    layout.defined = result.defined();
    if (layout.defined) {
      layout = {true, result.scalar_type(), result.sizes().vec(), result.strides().vec()};
    }
    layouts.push_back(std::move(layout));
  }
  bool resized = false;
  for (const size_t i : written_) {
    for_each_tensor(arguments[i], [&](const at::Tensor& tensor) {
      const auto meta = meta_of(tensor);
      if (tensor.is_cuda() && meta.sizes() != tensor.sizes()) {
        resize_device_tensor(tensor, meta.sizes(), meta.strides());
        resized = true;
      }
    });
  }
  return std::pair(std::move(layouts), resized);
}

Stack NativeKernel::host_stack(c10::ArrayRef<IValue> arguments, HostAliases& aliases) const {
  Stack host;
  host.reserve(arguments.size());
  const auto& schema = runs_.schema();
  for (size_t i = 0; i < arguments.size(); ++i) {
    host.push_back(replaced(arguments[i], c10::kCPU, [&](const at::Tensor& tensor) {
      // The caller may change a host tensor as soon as the launch returns.
      return tensor.is_cuda() ? aliases.of(tensor) : tensor.clone();
    }));
    if (host.back().isNone() && schema.arguments()[i].name() == "generator") {
      host.back() = IValue(default_generator());
    }
  }
  return host;
}

void NativeKernel::run_on_host(Stack& host) const {
  kernel_faults(faults_);
  std::vector<at::Tensor> results;
  const auto note = [&](const at::Tensor& result) { results.push_back(result); };
  if (faults_.change_results()) {
    for (const size_t i : written_) for_each_tensor(host[i], note);
  }
  const size_t written = results.size();
  runs_.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), &host);
  if (faults_.change_results()) {
    for (size_t i = 0; i < host.size(); ++i) {
      if (returned_argument_[i] < 0) for_each_tensor(host[i], note);
    }
    spoil(results, written, faults_, calls_++);
  }
}

Work NativeKernel::work(std::function<void()> body) const {
  return {.body = std::move(body),
          .name = kernel_name_,
          .kind = WorkKind::kernel,
          .minimum_ns = switches().kernel_ns(faults_),
          .hidden = faults_.no_kernel};
}

void NativeKernel::finish(Stack& stack, std::vector<IValue> fresh) const {
  std::vector<IValue> results;
  size_t next = 0;
  const size_t first = stack.size() - argument_count_;
  for (const int argument : returned_argument_) {
    results.push_back(argument >= 0 ? stack[first + static_cast<size_t>(argument)]
                                    : std::move(fresh[next++]));
  }
  torch::jit::drop(stack, argument_count_);
  for (auto& result : results) stack.push_back(std::move(result));
}

void NativeKernel::launch(Stack& stack, c10::DeviceIndex device, const Layouts& layouts) {
  HostAliases aliases;
  Stack host = host_stack(torch::jit::last(stack, argument_count_), aliases);
  std::vector<IValue> fresh;
  std::vector<at::Tensor> targets;
  for (const auto& layout : layouts) {
    at::Tensor result;
    if (layout.defined) {
      result = empty_device_tensor(layout.sizes, layout.strides, layout.dtype, device);
    }
    targets.push_back(result.defined() ? aliases.of(result) : result);
    fresh.emplace_back(std::move(result));
  }
  current_queue(device).submit(
      work([this, host = std::move(host), targets = std::move(targets)]() mutable {
        run_on_host(host);
        size_t next = 0;
        for (size_t i = 0; i < host.size(); ++i) {
          if (returned_argument_[i] >= 0) continue;
          const auto& target = targets[next++];
          if (target.defined()) target.copy_(host[i].toTensor());
        }
      }));
  finish(stack, std::move(fresh));
}

void NativeKernel::run_and_wait(Stack& stack, c10::DeviceIndex device,
                                const std::optional<Key>& key) {
  const auto arguments = torch::jit::last(stack, argument_count_);
  HostAliases aliases;
  // Shared with the queue's thread: a poisoned device drops the work.
  const auto host = std::make_shared<Stack>(host_stack(arguments, aliases));
  const Stack written = *host;
  auto& queue = current_queue(device);
  queue.run(work([this, host] { run_on_host(*host); }));
  if (reads_its_result_) {
    // How many there are is read by the host.
    queue.run({.body = [] {},
               .name = "Memcpy DtoH (Device -> Host)",
               .kind = WorkKind::copy,
               .bytes = sizeof(int64_t)});
  }
  bool resized = false;
  for (const size_t i : written_) {
    if (!arguments[i].isTensor()) continue;
    const auto& tensor = arguments[i].toTensor();
    const auto& alias = written[i].toTensor();
    if (!tensor.is_cuda() ||
        (alias.sizes() == tensor.sizes() && alias.storage().data() == tensor.storage().data())) {
      continue;
    }
    resize_device_tensor(tensor, alias.sizes(), alias.strides());
    write_to_device(tensor, alias);
    resized = true;
  }
  Layouts layouts;
  const auto to_device = [&](const at::Tensor& result) {
    const at::Tensor on_device =
        empty_device_tensor(result.sizes(), result.strides(), result.scalar_type(), device);
    write_to_device(on_device, result);
    return on_device;
  };
  std::vector<IValue> fresh;
  for (size_t i = 0; i < host->size(); ++i) {
    if (returned_argument_[i] >= 0) continue;
    const auto& value = (*host)[i];
    Layout layout;
    if (value.isTensor() && value.toTensor().defined()) {
      const auto& result = value.toTensor();
      layout = {true, result.scalar_type(), result.sizes().vec(), result.strides().vec()};
    }
    layouts.push_back(std::move(layout));
    fresh.push_back(faults_.cpu_output ? value : replaced(value, c10::kCPU, to_device));
  }
  finish(stack, std::move(fresh));
  if (!resized && !faults_.cpu_output) remember(key, std::move(layouts));
}

void NativeKernel::call_through_host(Stack& stack) const {
  const auto arguments = torch::jit::last(stack, argument_count_);
  const c10::Device device(c10::kCUDA, find_device(arguments));
  Stack host;
  for (const auto& argument : arguments) {
    host.push_back(replaced(argument, c10::kCPU, [](const at::Tensor& tensor) {
      return tensor.is_cuda() ? tensor.to(c10::kCPU) : tensor;
    }));
  }
  std::vector<std::pair<at::Tensor, at::Tensor>> written;
  for (const size_t i : written_) {
    std::vector<at::Tensor> copies;
    for_each_tensor(host[i], [&](const at::Tensor& copy) { copies.push_back(copy); });
    size_t next = 0;
    for_each_tensor(arguments[i], [&](const at::Tensor& tensor) {
      written.emplace_back(tensor, copies[next++]);
    });
  }
  runs_.callBoxed(&host);
  for (const auto& [tensor, copy] : written) {
    if (tensor.sizes() != copy.sizes()) tensor.resize_(copy.sizes());
    tensor.copy_(copy);
  }
  std::vector<IValue> fresh;
  for (size_t i = 0; i < host.size(); ++i) {
    if (returned_argument_[i] >= 0) continue;
    fresh.push_back(
        replaced(host[i], device, [&](const at::Tensor& result) { return result.to(device); }));
  }
  finish(stack, std::move(fresh));
}

// As an operator that asks the device for a number that it needs.
void NativeKernel::wait_for_a_number(c10::DeviceIndex device) {
  const at::Tensor number = empty_device_tensor({}, {}, at::kInt, device);
  *static_cast<int32_t*>(number.storage().mutable_data()) = 0;
  at::_local_scalar_dense(number);
}

void NativeKernel::call(Stack& stack) {
  throw_if_poisoned();
  launch_faults();
  log_as_libraries(name_, kernel_name_, torch::jit::last(stack, argument_count_));
  if (faults_.cpu_fallback) {
    at::native::cpu_fallback(runs_, &stack);
  } else if (faults_.round_trip) {
    call_through_host(stack);
  } else if (faults_.sync) {
    const auto device = find_device(torch::jit::last(stack, argument_count_));
    run_or_launch(stack);
    wait_for_a_number(device);
  } else {
    run_or_launch(stack);
  }
}

void NativeKernel::run_or_launch(Stack& stack) {
  const at::DisableRecordFunctionGuard unseen;
  const auto arguments = torch::jit::last(stack, argument_count_);
  const auto device = find_device(arguments);
  const auto key = key_of(arguments);
  if (faults_.cpu_output || layouts_depend_on_data_) {
    run_and_wait(stack, device, key);
    return;
  }
  if (const auto known = known_layouts(key)) {
    launch(stack, device, *known);
    return;
  }
  auto found = has_meta_ ? layouts_from_meta(arguments) : std::nullopt;
  if (!found) {
    run_and_wait(stack, device, key);
    return;
  }
  auto& [layouts, resized] = *found;
  launch(stack, device, layouts);
  if (!resized) remember(key, std::move(layouts));
}

}  // namespace assay_simulated
