// SPDX-License-Identifier: Apache-2.0
//
// A plan's last operator, called through its out= overload into memory with marked margins.
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <map>

#include "evidence/reference.hpp"

namespace assay::engine {

namespace {

constexpr std::int64_t margin_elements = 512;
constexpr int mark = 0x5A;

// All overloads of an operator. Extensions add operators as long as the process lives.
const std::vector<c10::OperatorName>& overloads_of(const std::string& name) {
  static std::map<std::string, std::vector<c10::OperatorName>> known;
  if (!known.contains(name)) {
    known.clear();
    for (const c10::OperatorName& op : c10::Dispatcher::singleton().getAllOpNames()) {
      known[op.name].push_back(op);
    }
  }
  return known[name];
}

bool is_written(const c10::Argument& argument) {
  return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
}

// Takes the same arguments and, after them, one tensor to write for each result.
bool is_out_form(const c10::FunctionSchema& of, const c10::FunctionSchema& candidate,
                 std::size_t results) {
  const auto& given = of.arguments();
  const auto& wanted = candidate.arguments();
  if (wanted.size() != given.size() + results) {
    return false;
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (is_written(wanted[i]) || wanted[i].name() != given[i].name() ||
        *wanted[i].type() != *given[i].type()) {
      return false;
    }
  }
  return std::all_of(wanted.begin() + static_cast<std::ptrdiff_t>(given.size()), wanted.end(),
                     [](const c10::Argument& a) {
                       return is_written(a) && a.type()->kind() == c10::TypeKind::TensorType;
                     });
}

std::optional<c10::OperatorHandle> out_form_of(const c10::OperatorHandle& op, std::size_t results) {
  for (const c10::OperatorName& name : overloads_of(op.operator_name().name)) {
    const auto candidate = c10::Dispatcher::singleton().findSchema(name);
    if (candidate && is_out_form(op.schema(), candidate->schema(), results)) {
      return candidate;
    }
  }
  return std::nullopt;
}

struct padded {
  at::Tensor bytes;  // the whole memory
  at::Tensor view;   // what the operator is given
};

padded make_padded(const at::Tensor& like) {
  const auto item = static_cast<std::int64_t>(like.element_size());
  at::Tensor bytes = at::empty({(like.numel() + 2 * margin_elements) * item},
                               at::device(like.device()).dtype(at::kByte));
  bytes.fill_(mark);
  at::Tensor view =
      bytes.view(like.scalar_type()).as_strided(like.sizes(), like.strides(), margin_elements);
  return {bytes, view};
}

bool margins_marked(const padded& memory) {
  const auto item = static_cast<std::int64_t>(memory.view.element_size());
  const at::Tensor bytes = memory.bytes.to(at::kCPU);
  const auto* all = bytes.const_data_ptr<std::uint8_t>();
  const std::int64_t margin = margin_elements * item;
  const auto marked = [](std::uint8_t byte) { return byte == mark; };
  return std::all_of(all, all + margin, marked) &&
         std::all_of(all + bytes.numel() - margin, all + bytes.numel(), marked);
}

}  // namespace

margin_result examine_margins(bound_plan& plan) {
  const std::vector<at::Tensor> outputs = plan.outputs();
  const c10::OperatorHandle& op = plan.last_operator();
  if (outputs.empty() || op.schema().returns().size() != outputs.size()) {
    return {"unknown", "the last operator returns no plain tensors"};
  }
  if (!std::all_of(outputs.begin(), outputs.end(), [](const at::Tensor& t) {
        return t.layout() == at::kStrided && t.is_non_overlapping_and_dense() && t.numel() > 0;
      })) {
    return {"unknown", "an output is not dense"};
  }
  const auto out_form = out_form_of(op, outputs.size());
  const std::string name = c10::toString(op.operator_name());
  if (!out_form) {
    return {"unknown", name + " has no out= overload"};
  }
  std::vector<padded> memory;
  torch::jit::Stack stack = plan.run_up_to_last();
  for (const at::Tensor& output : outputs) {
    memory.push_back(make_padded(output));
    stack.emplace_back(memory.back().view);
  }
  out_form->callBoxed(stack);
  for (const padded& m : memory) {
    if (m.view.storage().data_ptr().get() != m.bytes.storage().data_ptr().get() ||
        m.view.sizes() != outputs[static_cast<std::size_t>(&m - memory.data())].sizes()) {
      return {"unknown", name + " made memory of its own for its result"};
    }
    if (!margins_marked(m)) {
      return {"overwritten",
              c10::toString(out_form->operator_name()) + " wrote outside the memory of its result"};
    }
  }
  return {"intact", ""};
}

}  // namespace assay::engine
