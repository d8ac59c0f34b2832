// SPDX-License-Identifier: Apache-2.0
//
// Binds a plan to the operators of the LibTorch that is loaded, and calls it.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>
#include <assay/abi.h>

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace assay::engine {

/// The plan cannot be called as it stands: what() names call, operator, argument and the nearest
/// name. A fault of the op pack.
class plan_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// This LibTorch lacks an operator of the plan. A fact about LibTorch.
class missing_operator : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What stands for "the device under test" and "the check's dtype" in a plan.
struct plan_site {
  c10::Device device;
  c10::ScalarType dtype;
  const char* call_word = "call";  // what messages say in front of a call's number
};

/// A plan whose operators are looked up and whose constants are values already, so that a call
/// only pushes arguments and dispatches. Not thread-safe.
class bound_plan {
 public:
  /// Checks every argument against the schemas. Throws plan_error or missing_operator.
  explicit bound_plan(const assay_check& check,
                      const plan_site& site = {c10::kCPU, c10::ScalarType::Float});

  /// As many as the check declares, before the first run(). Of those that a call writes to a copy
  /// is kept.
  void set_inputs(std::vector<at::Tensor> inputs);

  /// Whether a call writes to this input ("add_", "out="): then a run() leaves another value
  /// behind.
  [[nodiscard]] bool writes_to(std::size_t input) const;
  /// Whether nothing is read of this input before it is written ("out=").
  [[nodiscard]] bool only_writes_to(std::size_t input) const;

  /// Gives the inputs that are written to the values of set_inputs() back. Not to be timed.
  void restore_inputs();

  /// Whether LibTorch says that one of the operators may draw random numbers.
  [[nodiscard]] bool may_draw() const;

  /// Runs the calls in order. Memory is released as by a program that says `out = f(g(x))`: what a
  /// call returned goes after its last use, the previous output when the new one is there.
  void run() {
    previous_.swap(calls_.back().results);
    for (bound_call& call : calls_) {
      running_ = &call;
      call.results.clear();
      for (const slot& s : call.slots) {
        push(call.results, s);
      }
      call.op.callBoxed(call.results);
      for (const std::uint32_t done : call.used_up) {
        calls_[done].results.clear();
      }
    }
    running_ = nullptr;
    previous_.clear();
  }

  /// The call that threw, where the plan says where it is written: "acme.assay.toml:24: call 1,
  /// aten::mm: ". "" where none threw, or nothing is known of its place.
  [[nodiscard]] std::string failed_call() const;

  /// Every tensor that the last call returned, in lists and tuples too.
  [[nodiscard]] std::vector<at::Tensor> outputs() const;

  void release_results();

  [[nodiscard]] const c10::OperatorHandle& last_operator() const { return calls_.back().op; }

  /// Runs the calls in order and keeps what each returned; `seen` gets the arguments and results of
  /// each.
  using call_observer = std::function<void(const c10::OperatorHandle&, const torch::jit::Stack&,
                                           const torch::jit::Stack&)>;
  void run_watched(const call_observer& seen);

  /// Runs all calls but the last, and answers that one's arguments. outputs() stay as they are.
  torch::jit::Stack run_up_to_last();

 private:
  enum class slot_kind { constant, input_list, input, result, list };

  struct slot {
    slot_kind kind = slot_kind::constant;
    c10::IValue constant;        // of an input_list: the list, made by set_inputs()
    std::uint32_t position = 0;  // of the input or call
    std::uint32_t item = 0;
    bool from_list = false;       // the call returns a list, and item picks from it
    bool optional_items = false;  // the schema's list is of optional tensors
    std::vector<slot> items;
  };

  struct bound_call {
    const assay_call* written;
    c10::OperatorHandle op;
    std::vector<slot> slots;
    torch::jit::Stack results;
    std::vector<std::uint32_t> used_up;  // earlier calls whose results this one is the last to use
  };

  friend class call_binder;

  void note_last_uses();
  void note_written_inputs();
  [[nodiscard]] c10::IValue list_of(const slot& s) const;
  [[nodiscard]] c10::IValue tensor_at(const slot& s) const;

  void push(torch::jit::Stack& stack, const slot& s) const {
    if (s.kind == slot_kind::constant || s.kind == slot_kind::input_list) {
      stack.push_back(s.constant);
    } else if (s.kind == slot_kind::input) {
      stack.push_back(inputs_[s.position]);
    } else {
      stack.push_back(tensor_at(s));
    }
  }

  struct written_input {
    std::uint32_t position = 0;
    bool only_written = false;
    at::Tensor original;
  };

  std::vector<c10::IValue> inputs_;
  std::vector<written_input> written_;
  std::vector<bound_call> calls_;
  const char* call_word_ = "call";
  const bound_call* running_ = nullptr;
  torch::jit::Stack previous_;
};

/// The tensors of a value, in lists and tuples too.
void collect_tensors(const c10::IValue& value, std::vector<at::Tensor>& found);

}  // namespace assay::engine
