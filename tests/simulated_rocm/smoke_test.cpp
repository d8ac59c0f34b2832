// SPDX-License-Identifier: Apache-2.0
// Is the simulated device what a ROCm device would be for LibTorch? usage: smoke LIB_FOLDER
// Each switch is tried in a child process: smoke LIB_FOLDER --child ACTION.
#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <c10/core/Event.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <thread>

#include "smoke_checks.h"

namespace smoke {
namespace {
int failed = 0;
}  // namespace

int failures() { return failed; }

void expect(bool good, const std::string& what) {
  if (good) return;
  ++failed;
  std::printf("FAILED: %s\n", what.c_str());
}

void synchronize() { c10::impl::VirtualGuardImpl(at::kCUDA).synchronizeDevice(0); }

std::string difference(const at::Tensor& expected, const at::Tensor& found) {
  if (found.device() != device) return "is on " + found.device().str();
  if (expected.sizes() != found.sizes() || expected.scalar_type() != found.scalar_type()) {
    return "has another shape or dtype";
  }
  const auto type = expected.scalar_type();
  const bool half = type == at::kHalf || type == at::kBFloat16;
  const double tolerance = half ? 2e-2 : 1e-4;
  const at::Tensor on_host = found.to(at::kCPU);
  if (!at::isFloatingType(type)) return at::equal(expected, on_host) ? "" : "differs";
  return at::allclose(on_host.to(at::kDouble), expected.to(at::kDouble), tolerance, tolerance)
             ? ""
             : "differs";
}

}  // namespace smoke

namespace {

namespace fs = std::filesystem;
using at::Tensor;
using smoke::device;
using smoke::difference;
using smoke::expect;
using smoke::Inputs;
using smoke::synchronize;

c10::impl::VirtualGuardImpl guard() { return c10::impl::VirtualGuardImpl(at::kCUDA); }

double now_us() {
  return std::chrono::duration<double, std::micro>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void* open_libraries(const fs::path& folder) {
  void* backend = nullptr;
  for (const char* name : {"libc10.so", "libtorch_cpu.so", "libtorch_hip.so"}) {
    backend = dlopen(fs::canonical(folder / name).c_str(), RTLD_GLOBAL | RTLD_LAZY);
    if (!backend) {
      std::printf("FAILED: %s\n", dlerror());
      std::exit(1);
    }
  }
  return backend;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

void check_operators(at::ScalarType dtype) {
  const Inputs host = Inputs::random(dtype);
  const Inputs on_device = host.to(device);
  int same = 0;
  for (const auto& check : smoke::checks()) {
    const std::string name = check.name + " in " + c10::toString(dtype);
    try {
      const Tensor expected = check.run(host);
      // The second time the shapes are known from the first.
      for (int round = 0; round < 2; ++round) {
        const std::string wrong = difference(expected, check.run(on_device));
        expect(wrong.empty(), name + " " + wrong);
        same += wrong.empty();
      }
    } catch (const std::exception& error) {
      expect(false, name + ": " + first_line(error.what()));
    }
  }
  std::printf("%s: %d of %zu results as on the CPU\n", c10::toString(dtype), same,
              2 * smoke::checks().size());
}

void check_devices_and_streams(const Inputs& in) {
  const auto impl = guard();
  expect(at::globalContext().hasCUDA() && at::globalContext().hasROCM(), "hasROCM");
  expect(impl.deviceCount() == 1, "one device");
  const c10::Stream main = impl.getStream(device);
  const c10::Stream side = impl.getStreamFromGlobalPool(device);
  expect(main != side, "a stream of its own");
  // The side stream works on a result of the main one: it must wait for the event.
  c10::Event made(at::kCUDA);
  const Tensor product = at::matmul(in.x, in.w);
  made.record(main);
  impl.exchangeStream(side);
  expect(impl.getStream(device) == side, "the side stream is current");
  made.block(side);
  const Tensor result = at::relu(product);
  impl.synchronizeStream(side);
  impl.exchangeStream(main);
  expect(at::equal(result.to(at::kCPU), at::relu(product.to(at::kCPU))), "streams and events");
  expect(made.query() && impl.queryStream(side), "queries");
  try {
    at::add(in.x, at::ones({128, 512}));
    expect(false, "mixed devices go unnoticed");
  } catch (const c10::Error& error) {
    expect(std::string(error.what()).find("on the same device") != std::string::npos, error.what());
  }
  try {
    at::mm(in.x, in.x);
    expect(false, "wrong shapes go unnoticed");
  } catch (const c10::Error&) {
  }
}

void check_overhead(const Inputs& in) {
  constexpr int calls = 500;
  const Tensor small = in.x.narrow(0, 0, 1).clone();
  double best = 1e9;
  for (int round = 0; round < 10; ++round) {
    synchronize();
    const double start = now_us();
    for (int i = 0; i < calls; ++i) at::relu(small);
    best = std::min(best, (now_us() - start) / calls);
  }
  synchronize();
  std::printf("relu of 512 numbers: submit %.1f us\n", best);
  expect(best < 50, "submitting is slow");
}

void check_trace(const Inputs& in) {
  const auto trace_of = [](const std::function<void()>& run) {
    std::string text;
    for (const auto& call : smoke::trace(run)) text += call.op + " ";
    return text;
  };
  const auto expect_trace = [](const std::string& found, const std::string& expected) {
    expect(found == expected, "trace '" + found + "' is not '" + expected + "'");
  };
  expect_trace(trace_of([&] { at::gelu(in.x); }), "aten::gelu ");
  expect_trace(trace_of([&] { at::add(in.x, in.y); }), "aten::add ");
  expect_trace(trace_of([&] { at::conv2d(in.image, in.kernel); }),
               "aten::conv2d aten::convolution aten::_convolution aten::miopen_convolution ");
  const Tensor ones = at::ones({64}, device);
  const auto norm =
      trace_of([&] { at::batch_norm(in.image, ones, ones, {}, {}, true, 0.1, 1e-5, true); });
  expect(norm.find("aten::miopen_batch_norm ") != std::string::npos, "batch_norm: " + norm);
  const Tensor half = in.q.to(at::kHalf);
  const auto flash = trace_of([&] { at::scaled_dot_product_attention(half, half, half); });
  expect(flash.find("flash_attention") != std::string::npos, "attention in half: " + flash);
}

// Children -----------------------------------------------------------------------------------

std::string outcome(const std::function<void()>& call) {
  try {
    call();
    return "fine";
  } catch (const c10::OutOfMemoryError& error) {
    return "OutOfMemoryError: " + first_line(error.what());
  } catch (const c10::NotImplementedError& error) {
    return "NotImplementedError: " + first_line(error.what());
  } catch (const c10::Error& error) {
    return "Error: " + first_line(error.what());
  }
}

// Ten calls of 5 ms: are the three times what they should be?
bool slow_times(const Inputs& in) {
  const auto impl = guard();
  c10::Event first(at::kCUDA, c10::EventFlag::BACKEND_DEFAULT);
  c10::Event second(at::kCUDA, c10::EventFlag::BACKEND_DEFAULT);
  at::exp(in.x);
  synchronize();
  const double start = now_us();
  first.record(impl.getStream(device));
  for (int i = 0; i < 10; ++i) at::exp(in.x);
  second.record(impl.getStream(device));
  const double submit = now_us() - start;
  const bool pending = !second.query();
  second.synchronize();
  const double wall = now_us() - start;
  const double elapsed = first.elapsedTime(second) * 1000;
  std::printf("submit %.0f us, wall %.0f us, device %.0f us\n", submit, wall, elapsed);
  return pending && submit < 0.2 * wall && elapsed >= 49'900 && elapsed < 150'000 &&
         wall >= elapsed * 0.99;
}

void child_slow(const Inputs& in) {
  // The machine may be busy with something else.
  for (int attempt = 0; attempt < 10; ++attempt) {
    if (slow_times(in)) return void(std::puts("times differ as they should"));
  }
  std::puts("times are wrong");
}

void child_hang(const Inputs& in) {
  static std::atomic<bool> returned{false};
  at::tanh(in.x);
  at::softmax(in.x, -1);
  std::puts("launched");
  std::thread([] {
    synchronize();
    returned = true;
  }).detach();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const bool idle = guard().queryStream(guard().getStream(device));
  std::puts(returned || idle ? "did not hang" : "synchronise blocks");
}

void child_poison(const Inputs& in) {
  std::printf("launch %s\n", outcome([&] { at::sigmoid(in.x); }).c_str());
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  std::printf("meanwhile %s", outcome([&] { at::exp(in.x); }).c_str());
  std::printf(" %s\n", outcome([&] { at::empty({8}, device); }).c_str());
  std::printf("synchronise %s\n", outcome(synchronize).c_str());
  std::printf("relu %s\n", outcome([&] { at::relu(in.x); }).c_str());
  std::printf("copy %s\n", outcome([&] { in.x.to(at::kCPU); }).c_str());
  std::printf("make %s\n", outcome([&] { at::empty({8}, device); }).c_str());
  c10::Event event(at::kCUDA);
  std::printf("event %s\n", outcome([&] { event.record(guard().getStream(device)); }).c_str());
}

void child_two_devices(const Inputs& in) {
  const at::Device second(at::kCUDA, 1);
  const Tensor moved = in.x.to(second);
  const Tensor result = at::relu(moved);
  expect(moved.device() == second && result.device() == second, "the second device");
  expect(at::equal(result.to(device).to(at::kCPU), at::relu(in.x).to(at::kCPU)), "its values");
  std::printf("%d devices, mixed: %s\n", guard().deviceCount(),
              outcome([&] { at::add(in.x, moved); }).c_str());
}

void child_operator(const std::string& name, const Inputs& host, const Inputs& on_device) {
  for (const auto& check : smoke::checks()) {
    if (check.name != name) continue;
    const auto result = outcome([&] {
      const Tensor found = check.run(on_device);
      synchronize();
      const auto different = difference(check.run(host), found);
      std::printf("%s\n", different.empty() ? "same" : different.c_str());
    });
    std::printf("%s\n", result.c_str());
  }
}

int child(const std::string& action) {
  const Inputs host = Inputs::random(at::kFloat);
  const Inputs in = host.to(device);
  const std::map<std::string, void (*)(const Inputs&)> actions = {
      {"--slow", &child_slow},
      {"--hang", &child_hang},
      {"--poison", &child_poison},
      {"--two-devices", &child_two_devices},
      {"--repeat", &smoke::tell_repeatable},
      {"--margins", &smoke::tell_margins},
      {"--times", &smoke::tell_times},
      // Ends while the queue is full.
      {"--leave", [](const Inputs& i) {
         for (int n = 0; n < 100; ++n) at::matmul(i.left, i.right);
       }}};
  if (const auto found = actions.find(action); found != actions.end()) {
    found->second(in);
  } else if (action.starts_with("evidence of ")) {
    smoke::tell_evidence(action.substr(12), host, in);
  } else {
    child_operator(action, host, in);
  }
  return smoke::failures() ? 1 : 0;
}

void check_names(void* backend) {
  const auto name_of =
      reinterpret_cast<int (*)(char*, int, int)>(dlsym(backend, "hipDeviceGetName"));
  const auto properties_of =
      reinterpret_cast<int (*)(void*, int)>(dlsym(backend, "hipGetDevicePropertiesR0600"));
  std::array<char, 64> name{};
  expect(name_of && name_of(name.data(), name.size(), 0) == 0 &&
             std::string(name.data()) == "simulated ROCm device",
         "hipDeviceGetName");
  expect(name_of && name_of(name.data(), name.size(), 1) != 0, "a name for a missing device");
  std::array<char, 2048> properties{};
  expect(properties_of && properties_of(properties.data(), 0) == 0 &&
             std::string(properties.data() + 512) == "gfx0000 (simulated)",
         "hipGetDevicePropertiesR0600");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const double start = now_us();
  void* backend = open_libraries(argv[1]);
  const c10::InferenceMode inference;
  if (argc == 4) return child(argv[3]);
  std::printf("libraries opened in %.0f ms\n", (now_us() - start) / 1000);
  check_names(backend);
  const Inputs in = Inputs::random(at::kFloat).to(device);
  check_devices_and_streams(in);
  for (const auto dtype : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
    check_operators(dtype);
  }
  check_trace(in);
  smoke::check_clean_runs(in);
  smoke::check_profile(in);
  check_overhead(in);
  smoke::check_switches(fs::canonical("/proc/self/exe"), argv[1]);
  std::printf("%d failures\n", smoke::failures());
  return smoke::failures() ? 1 : 0;
}
