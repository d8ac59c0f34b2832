// SPDX-License-Identifier: Apache-2.0
#include "memory.h"

#include <ATen/EmptyTensor.h>
#include <c10/core/Allocator.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/InferenceMode.h>

#include <cstdlib>
#include <cstring>

#include "queue.h"

namespace assay_simulated {
namespace {

// A small device: what measures its bandwidth makes do with smaller buffers, and tests wait less.
constexpr size_t most_bytes = size_t{192} << 20;

struct DeviceAllocator final : c10::Allocator {
  c10::DataPtr allocate(size_t bytes) override {
    throw_if_poisoned();
    const c10::Device device(c10::kCUDA, current_device());
    if (bytes == 0) return {nullptr, device};
    void* memory = bytes > most_bytes ? nullptr : std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    TORCH_CHECK_WITH(OutOfMemoryError, memory, "HIP out of memory. Tried to allocate ", bytes,
                     " bytes.");
    return {memory, memory, &std::free, device};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &std::free; }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
};

void release_storage(void* owner) {
  const auto released =
      c10::intrusive_ptr<c10::StorageImpl>::reclaim(static_cast<c10::StorageImpl*>(owner));
}

const bool registered = [] {
  c10::SetAllocator(c10::kCUDA, device_allocator());
  return true;
}();

}  // namespace

c10::Allocator* device_allocator() {
  static auto* leaked = new DeviceAllocator;  // tensors may outlive static destructors
  return leaked;
}

at::Tensor empty_device_tensor(c10::IntArrayRef sizes, c10::IntArrayRef strides,
                               at::ScalarType dtype, c10::DeviceIndex device) {
  const auto before = current_device();
  set_current_device(device);
  struct Restore {
    c10::DeviceIndex device;
    ~Restore() { set_current_device(device); }
  } const restore{before};
  return at::detail::empty_strided_generic(sizes, strides, device_allocator(),
                                           c10::DispatchKeySet(c10::DispatchKey::CUDA), dtype);
}

at::Tensor HostAliases::of(const at::Tensor& tensor) {
  const auto* impl = tensor.unsafeGetTensorImpl();
  for (const auto& [known, alias] : tensors_) {
    if (known == impl) return alias;
  }
  const c10::Storage& storage = tensor.storage();
  auto* storage_impl = storage.unsafeGetStorageImpl();
  c10::Storage alias_storage;
  for (const auto& [known, alias] : storages_) {
    if (known == storage_impl) alias_storage = alias;
  }
  if (!alias_storage) {
    c10::Storage keeps(storage);
    c10::DataPtr memory(storage_impl->mutable_data(), keeps.unsafeReleaseStorageImpl(),
                        &release_storage, c10::kCPU);
    // Resizable with the CPU's allocator: an operator may then grow its out= argument, which moves
    // it to memory of its own; the caller notices and copies.
    alias_storage = c10::Storage(c10::Storage::use_byte_size_t(), storage.nbytes(),
                                 std::move(memory), c10::GetAllocator(c10::kCPU), true);
    storages_.emplace_back(storage_impl, alias_storage);
  }
  const c10::InferenceMode inference;  // no autograd keys
  auto alias = at::detail::make_tensor<c10::TensorImpl>(
      std::move(alias_storage), c10::DispatchKeySet(c10::DispatchKey::CPU), tensor.dtype());
  auto* alias_impl = alias.unsafeGetTensorImpl();
  alias_impl->set_sizes_and_strides(tensor.sizes(), tensor.strides(), tensor.storage_offset());
  if (impl->is_wrapped_number()) alias_impl->set_wrapped_number(true);
  if (tensor.is_conj()) alias._set_conj(true);
  if (tensor.is_neg()) alias._set_neg(true);
  tensors_.emplace_back(impl, alias);
  return alias;
}

void resize_device_tensor(const at::Tensor& tensor, c10::IntArrayRef sizes,
                          c10::IntArrayRef strides) {
  const size_t bytes = at::detail::computeStorageNbytes(
      sizes, strides, tensor.itemsize(), static_cast<size_t>(tensor.storage_offset()));
  const c10::Storage& storage = tensor.storage();
  if (storage.nbytes() < bytes) {
    const c10::Device device = tensor.device();
    const c10::DeviceGuard guard(device);
    // Work that was launched before may still use the old memory, if there was any.
    if (storage.nbytes() > 0) synchronize_device(device.index());
    auto memory = device_allocator()->allocate(bytes);
    if (storage.nbytes() > 0) std::memcpy(memory.get(), storage.data(), storage.nbytes());
    storage.set_data_ptr_noswap(std::move(memory));
    storage.set_nbytes(bytes);
  }
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
}

}  // namespace assay_simulated
