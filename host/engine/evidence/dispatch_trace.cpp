// SPDX-License-Identifier: Apache-2.0
#include "evidence/dispatch_trace.hpp"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/record_function.h>
#include <c10/core/TensorImpl.h>
#include <c10/core/TensorOptions.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace assay::engine {

namespace {

constexpr std::size_t most_operators = 256;

// Where the tensors of one side of a call lie.
struct places {
  std::set<std::string> devices;
  std::int64_t cpu_elements = 0;
  std::int64_t other_elements = 0;
  bool on_cpu = false;
  bool elsewhere = false;

  void add(const at::Tensor& t) {
    if (!t.defined() || t.unsafeGetTensorImpl()->is_wrapped_number()) {
      return;
    }
    devices.insert(t.device().str());
    if (t.device().is_cpu()) {
      on_cpu = true;
      cpu_elements = std::max(cpu_elements, t.numel());
    } else if (!t.device().is_meta()) {
      elsewhere = true;
      other_elements = std::max(other_elements, t.numel());
    }
  }

  void add(const c10::IValue& value) {
    if (value.isTensor()) {
      add(value.toTensor());
    } else if (value.isTensorList()) {
      for (const at::Tensor& t : value.toTensorVector()) {
        add(t);
      }
    } else if (value.isList()) {
      for (const c10::IValue& item : value.toListRef()) {
        add(item);
      }
    } else if (value.isTuple()) {
      for (const c10::IValue& item : value.toTupleRef().elements()) {
        add(item);
      }
    }
  }
};

struct collector {
  std::vector<traced_operator> operators;
  std::vector<places> inputs;
  std::size_t left_out = 0;
  int depth = 0;
};

// The profiler's callbacks are plain functions; each traced thread has a collector of its own.
collector*& current() {
  thread_local collector* mine = nullptr;
  return mine;
}

struct call_context final : at::ObserverContext {
  std::optional<std::size_t> position;
};

std::unique_ptr<at::ObserverContext> on_begin(const at::RecordFunction& call) {
  auto context = std::make_unique<call_context>();
  collector* mine = current();
  if (mine == nullptr) {
    return context;
  }
  if (mine->operators.size() == most_operators) {
    ++mine->left_out;
  } else {
    traced_operator seen;
    const auto name = call.operator_name();
    seen.op = name ? c10::toString(*name) : call.name();
    seen.depth = mine->depth;
    if (seen.depth > 0) {
      const auto parent =
          std::find_if(mine->operators.rbegin(), mine->operators.rend(),
                       [&](const traced_operator& other) { return other.depth < seen.depth; });
      if (parent != mine->operators.rend()) {
        parent->leaf = false;
      }
    }
    places in;
    for (const c10::IValue& value : call.inputs()) {
      in.add(value);
    }
    context->position = mine->operators.size();
    mine->operators.push_back(std::move(seen));
    mine->inputs.push_back(std::move(in));
  }
  ++mine->depth;
  return context;
}

void on_end(const at::RecordFunction& call, at::ObserverContext* context) {
  collector* mine = current();
  const auto* mark = static_cast<call_context*>(context);
  if (mine == nullptr || mark == nullptr) {
    return;
  }
  --mine->depth;
  if (!mark->position) {
    return;
  }
  traced_operator& seen = mine->operators[*mark->position];
  const places& in = mine->inputs[*mark->position];
  places out;
  for (const c10::IValue& value : call.outputs()) {
    out.add(value);
  }
  places all = in;
  all.devices.insert(out.devices.begin(), out.devices.end());
  seen.devices.assign(all.devices.begin(), all.devices.end());
  seen.cpu_elements = std::max(in.cpu_elements, out.cpu_elements);
  // copy_ has its source and its destination among the inputs.
  seen.crosses = (in.on_cpu && (in.elsewhere || out.elsewhere)) || (in.elsewhere && out.on_cpu);
  if (seen.crosses) {
    seen.crossing_elements = seen.cpu_elements;
  }
}

// A kernel without a C++ signature, as a boxed fallback is: the dispatcher calls it "(none)".
bool only_boxed(const c10::OperatorHandle& op, const std::string& key) {
  const std::string state = op.dumpState();
  const auto line = state.find("\n" + key + ": ");
  if (line == std::string::npos) {
    return false;
  }
  const auto end = state.find('\n', line + 1);
  return state.substr(line, end - line).find(":: (none)") != std::string::npos;
}

std::string look_up(const std::string& op, c10::DispatchKey key) {
  const auto dot = op.find('.');
  const c10::OperatorName name(op.substr(0, dot),
                               dot == std::string::npos ? "" : op.substr(dot + 1));
  auto& dispatcher = c10::Dispatcher::singleton();
  const auto found = dispatcher.findOp(name);
  if (!found) {
    return "none";
  }
  if (found->hasKernelForDispatchKey(key)) {
    return only_boxed(*found, c10::toString(key)) ? "boxed" : "backend";
  }
  for (const auto composite :
       {c10::DispatchKey::CompositeExplicitAutograd, c10::DispatchKey::CompositeImplicitAutograd,
        c10::DispatchKey::CompositeExplicitAutogradNonFunctional}) {
    if (found->hasKernelForDispatchKey(composite)) {
      return "composite";
    }
  }
  return dispatcher.hasBackendFallbackForDispatchKey(key) ? "fallback" : "none";
}

}  // namespace

std::string kernel_kind(const std::string& op, const c10::Device& device) {
  static std::map<std::pair<std::string, c10::DeviceType>, std::string> known;
  const auto [entry, added] = known.try_emplace({op, device.type()});
  if (added) {
    entry->second = look_up(op, c10::computeDispatchKey(std::nullopt, c10::kStrided, device));
  }
  return entry->second;
}

dispatch_trace trace_dispatch(bound_plan& plan, const c10::Device& device) {
  collector mine;
  struct session {
    explicit session(collector& to)
        : handle(at::addThreadLocalCallback(at::RecordFunctionCallback(on_begin, on_end)
                                                .needsInputs(true)
                                                .needsOutputs(true)
                                                .scopes({at::RecordScope::FUNCTION}))) {
      current() = &to;
    }
    ~session() {
      current() = nullptr;
      at::removeCallback(handle);
    }
    session(const session&) = delete;
    session& operator=(const session&) = delete;
    at::CallbackHandle handle;
  };
  {
    const session observing(mine);
    plan.run();
  }
  dispatch_trace trace{std::move(mine.operators), mine.left_out};
  for (traced_operator& seen : trace.operators) {
    seen.kernel = kernel_kind(seen.op, device);
  }
  return trace;
}

}  // namespace assay::engine
