// SPDX-License-Identifier: Apache-2.0
// A native kernel of the simulated device: the CPU's operator, run on the device's queue and on
// host aliases of the device tensors.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "memory.h"
#include "queue.h"
#include "switches.h"

namespace assay_simulated {

class NativeKernel {
 public:
  // `runs` does the work; `name` ("aten::gelu") is what the kernel is called and `faults` are its
  // switches. `shown` is what error messages call it.
  NativeKernel(const c10::OperatorHandle& runs, std::string name, std::string shown, Faults faults);

  // Replaces the operator's arguments on the stack by its results.
  void call(torch::jit::Stack& stack);

 private:
  struct Layout {
    bool defined = false;
    at::ScalarType dtype = at::ScalarType::Float;
    std::vector<int64_t> sizes;
    std::vector<int64_t> strides;
  };
  using Layouts = std::vector<Layout>;
  using Key = std::vector<int64_t>;
  struct HashKey {
    size_t operator()(const Key& key) const;
  };

  void look_at_schema();
  void launch_faults() const;
  c10::DeviceIndex find_device(c10::ArrayRef<c10::IValue> arguments) const;
  // Null: these arguments cannot be a key.
  std::optional<Key> key_of(c10::ArrayRef<c10::IValue> arguments) const;
  std::optional<Layouts> known_layouts(const std::optional<Key>& key);
  void remember(const std::optional<Key>& key, Layouts layouts);
  // Runs the operator on meta tensors; also resizes the device's out= arguments as that did.
  // Second: whether it resized any. Null: it cannot do that.
  std::optional<std::pair<Layouts, bool>> layouts_from_meta(
      c10::ArrayRef<c10::IValue> arguments) const;
  torch::jit::Stack host_stack(c10::ArrayRef<c10::IValue> arguments, HostAliases& aliases) const;

  void launch(torch::jit::Stack& stack, c10::DeviceIndex device, const Layouts& layouts);
  void run_and_wait(torch::jit::Stack& stack, c10::DeviceIndex device,
                    const std::optional<Key>& key);
  void finish(torch::jit::Stack& stack, std::vector<c10::IValue> fresh) const;
  void run_or_launch(torch::jit::Stack& stack);
  // Seen by dispatch traces.
  void call_through_host(torch::jit::Stack& stack) const;
  static void wait_for_a_number(c10::DeviceIndex device);
  Work work(std::function<void()> body) const;
  // On the queue's thread.
  void run_on_host(torch::jit::Stack& host) const;

  const c10::OperatorHandle runs_;
  const std::string name_;
  const std::string shown_;
  const std::string kernel_name_;
  const Faults faults_;

  size_t argument_count_ = 0;
  std::vector<size_t> written_;         // arguments that the operator writes to
  std::vector<int> returned_argument_;  // for each result: the argument that it is, or -1
  bool takes_any_device_ = false;
  bool has_meta_ = false;
  bool layouts_depend_on_data_ = false;
  bool reads_its_result_ = false;
  mutable std::atomic<uint64_t> calls_{0};

  std::mutex mutex_;
  std::unordered_map<Key, Layouts, HashKey> layouts_;
};

}  // namespace assay_simulated
