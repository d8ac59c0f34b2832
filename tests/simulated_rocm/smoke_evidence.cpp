// SPDX-License-Identifier: Apache-2.0
// What a chain of evidence can see of the device: traces, profiles, tables, results.
#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/record_function.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <set>

#include "smoke_checks.h"

namespace smoke {
namespace {

using at::Tensor;

std::vector<Traced>* traced = nullptr;

void add_devices(const c10::IValue& value, std::set<std::string>& devices) {
  const auto add = [&](const Tensor& tensor) {
    if (tensor.defined() && !tensor.unsafeGetTensorImpl()->is_wrapped_number()) {
      devices.insert(tensor.is_cuda() ? "cuda" : "cpu");
    }
  };
  if (value.isTensor()) {
    add(value.toTensor());
  } else if (value.isList()) {
    for (const auto& element : value.toListRef()) add_devices(element, devices);
  }
}

struct Call final : at::ObserverContext {
  size_t position = 0;
  std::set<std::string> devices;
};

std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& function) {
  auto call = std::make_unique<Call>();
  for (const auto& input : function.inputs()) add_devices(input, call->devices);
  call->position = traced->size();
  traced->push_back({function.name(), ""});
  return call;
}

void end(const at::RecordFunction& function, at::ObserverContext* context) {
  auto& call = *static_cast<Call*>(context);
  for (const auto& output : function.outputs()) add_devices(output, call.devices);
  auto& text = (*traced)[call.position].devices;
  for (const auto& name : call.devices) text += (text.empty() ? "" : "+") + name;
}

const Check& check_called(const std::string& name) {
  for (const auto& check : checks()) {
    if (check.name == name) return check;
  }
  std::printf("no check is called %s\n", name.c_str());
  std::exit(2);
}

std::string bytes_of(const Event& event) {
  const std::string key = "\"bytes\": ";
  const auto at = event.metadata.find(key);
  if (at == std::string::npos) return "?";
  const auto first = at + key.size();
  return event.metadata.substr(first,
                               event.metadata.find_first_not_of("0123456789", first) - first);
}

std::string told(const Event& event) {
  std::string text = event.kind + " " + event.name;
  if (event.kind == "copy") text += ", " + bytes_of(event) + " bytes";
  return text + " <- " + event.op;
}

// Of kernels, some of which are planted slow; what the host does takes as long on a busy machine.
std::string told_with_time(const Event& event) {
  const bool slow = event.kind == "kernel" && event.end_ns - event.start_ns >= 5'000'000;
  return told(event) + (slow ? ", 5 ms" : "");
}

std::string line_of(const std::string& text, const std::string& start) {
  const auto at = text.find("\n" + start);
  return at == std::string::npos ? "none" : text.substr(at + 1, text.find('\n', at + 1) - at - 1);
}

void tell_table(const std::string& name) {
  const auto op = c10::Dispatcher::singleton().findOp({name, ""});
  if (!op) return;
  std::printf("table %s: %s | %s\n", name.c_str(), line_of(op->dumpState(), "CUDA: ").c_str(),
              line_of(op->dumpComputedTable(), "CUDA: ").c_str());
}

void tell_result(const Tensor& expected, const Tensor& found) {
  const auto different = difference(expected, found);
  std::printf("result %s\n", different.empty() ? "same" : different.c_str());
  const Tensor values = found.to(at::kCPU).to(at::kDouble);
  const Tensor wrong = at::isclose(values, expected.to(at::kDouble), 1e-4, 1e-4).logical_not();
  std::printf("%ld wrong of %s\n", static_cast<long>(wrong.sum().item<int64_t>()),
              values.numel() > 1 ? "many" : "one");
  const auto first = values.flatten()[0].item<double>();
  if (values.eq(first).all().item<bool>()) std::printf("all are %g\n", first);
}

}  // namespace

std::vector<Traced> trace(const std::function<void()>& run) {
  std::vector<Traced> collected;
  traced = &collected;
  const auto handle = at::addThreadLocalCallback(at::RecordFunctionCallback(&begin, &end)
                                                     .needsInputs(true)
                                                     .needsOutputs(true)
                                                     .scopes({at::RecordScope::FUNCTION}));
  run();
  at::removeCallback(handle);
  synchronize();
  return collected;
}

void check_clean_runs(const Inputs& in) {
  // They read a number from the device, on a GPU too.
  const std::set<std::string> reading = {"nonzero", "index with a mask", "item", "unique"};
  for (const auto& check : checks()) {
    const auto run = [&] { check.run(in); };
    for (const auto& call : trace(run)) {
      if (call.devices.find("cpu") == std::string::npos) continue;
      expect(false, check.name + ": " + call.op + " has tensors on " + call.devices);
    }
    int kernels = 0;
    for (const auto& event : profile(run)) {
      kernels += event.kind == "kernel";
      if (event.kind != "copy" || event.name.find("DtoD") != std::string::npos) continue;
      const bool small = bytes_of(event) == "8" || bytes_of(event) == "4";
      expect(small && event.name.find("DtoH") != std::string::npos && reading.contains(check.name),
             check.name + ": " + told(event));
    }
    expect(kernels > 0, check.name + " runs no kernel");
  }
}

void check_profile(const Inputs& in) {
  const Tensor host = at::ones({1000});
  const auto events = profile([&] {
    const Tensor result = at::gelu(in.x).to(at::kCPU);
    host.to(device);
  });
  std::vector<Event> on_host;
  std::vector<Event> on_device;
  std::string text;
  for (const auto& event : events) (event.kind == "runtime" ? on_host : on_device).push_back(event);
  for (const auto& event : on_host) text += told(event) + "\n";
  for (const auto& event : on_device) text += told(event) + "\n";
  expect(text ==
             "runtime hipLaunchKernel <- aten::gelu\n"
             "runtime hipMemcpyWithStream <- aten::copy_\n"
             "runtime hipMemcpyWithStream <- aten::copy_\n"
             "runtime hipDeviceSynchronize <- \n"
             "kernel simulated_gelu_kernel <- aten::gelu\n"
             "copy Memcpy DtoH (Device -> Host), 262144 bytes <- aten::copy_\n"
             "copy Memcpy HtoD (Host -> Device), 4000 bytes <- aten::copy_\n",
         "the profile is\n" + text);
  if (on_host.size() != 4 || on_device.size() != 3) return;
  for (size_t i = 0; i < 3; ++i) {
    const std::string& name = on_device[i].name;
    expect(on_device[i].launch == on_host[i].launch, name + " has its launch's number");
    expect(on_device[i].start_ns >= on_host[i].start_ns, name + " starts after its launch");
    expect(on_device[i].end_ns - on_device[i].start_ns >= 5'000, name + " takes its time");
    expect(i == 0 || on_device[i].start_ns >= on_device[i - 1].end_ns, name + " waits its turn");
    expect(i == 0 || on_device[i].end_ns <= on_host[i].end_ns, name + " is waited for");
  }
}

void tell_evidence(const std::string& name, const Inputs& host, const Inputs& on_device) {
  const auto& check = check_called(name);
  const auto run = [&] { check.run(on_device); };
  // The second call is like all later ones.
  const Tensor found = check.run(on_device);
  tell_result(check.run(host), found);
  const auto calls = trace(run);
  std::printf("trace");
  for (const auto& call : calls) std::printf(" %s[%s]", call.op.c_str(), call.devices.c_str());
  std::puts("");
  for (const auto& event : profile(run)) std::printf("%s\n", told_with_time(event).c_str());
  std::set<std::string> names;
  for (const auto& call : calls) {
    if (names.insert(call.op).second) tell_table(call.op);
  }
}

void tell_repeatable(const Inputs& in) {
  for (const auto type : {at::kFloat, at::kHalf}) {
    const auto run = [&] { return at::mm(in.x.to(type), in.w.to(type)).to(at::kCPU); };
    const Tensor first = run();
    const Tensor second = run();
    const auto close = at::allclose(first.to(at::kDouble), second.to(at::kDouble), 2e-3, 0);
    std::puts(at::equal(first, second) ? "the same" : close ? "nearly the same" : "different");
  }
}

void tell_margins(const Inputs& in) {
  const Tensor buffer = at::full({520}, 7.0, at::TensorOptions(device).dtype(at::kFloat));
  Tensor out = buffer.narrow(0, 4, 512);
  const Tensor row = in.x.select(0, 0);
  at::add_out(out, row, row);
  const Tensor after = buffer.to(at::kCPU);
  const auto intact = [&](int64_t i) { return after[i].item<double>() == 7; };
  std::printf("before %d, behind %d, further %d\n", intact(3), intact(516), intact(517));
  std::printf("result %s\n", difference((row + row).to(at::kCPU), out.clone()).c_str());
  // No room behind it: left alone.
  at::add_out(out = at::empty({512}, device), row, row);
  synchronize();
}

void tell_times(const Inputs& in) {
  constexpr int calls = 50;
  const c10::impl::VirtualGuardImpl guard(at::kCUDA);
  const auto now = [] { return std::chrono::steady_clock::now(); };
  const Tensor small = in.x.narrow(0, 0, 1).clone();
  at::relu(small);
  synchronize();
  const auto start = now();
  for (int i = 0; i < calls; ++i) at::relu(small);
  const std::chrono::duration<double, std::micro> submit = now() - start;
  synchronize();
  std::vector<uint64_t> kernels;
  for (const auto& event : profile([&] {
         for (int i = 0; i < calls; ++i) at::relu(small);
       })) {
    if (event.kind == "kernel") kernels.push_back(event.end_ns - event.start_ns);
  }
  std::sort(kernels.begin(), kernels.end());
  const double kernel_us = static_cast<double>(kernels.at(calls / 2)) / 1000;
  std::printf("submit %.1f us, kernel %.1f us: %s\n", submit.count() / calls, kernel_us,
              submit.count() / calls > 10 * kernel_us ? "launch-bound" : "not launch-bound");
}

}  // namespace smoke
