// SPDX-License-Identifier: Apache-2.0
#include "queue.h"

#include <ATen/record_function.h>
#include <c10/core/InferenceMode.h>
#include <c10/util/Exception.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "switches.h"

// LibTorch brings OpenMP's runtime, or none.
extern "C" __attribute__((weak)) void omp_set_num_threads(int count);

namespace assay_simulated {
namespace {

constexpr int max_devices = 16;
constexpr c10::StreamId pool_size = 32;

// At the end of the process the queues stay as they are, threads included (a hanging kernel cannot
// be joined). They only stop taking work, so that no kernel runs into LibTorch's destructors.
std::atomic<bool> ending{false};
std::atomic<int> busy{0};
std::atomic<int> hanging{0};

std::mutex& error_mutex() {
  static auto* mutex = new std::mutex;  // leaked: queue threads outlive static destructors
  return *mutex;
}
std::atomic<const std::string*> device_error{nullptr};
std::atomic<const std::string*> unreported_error{nullptr};

bool failed() { return device_error.load() || unreported_error.load(); }

void end_of_process() {
  ending = true;
  const int64_t deadline = steady_ns() + 1'000'000'000;
  while (busy > hanging && steady_ns() < deadline && !failed()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

std::string words_of_hip(std::string_view words) {
  return "HIP error: " + std::string(words) +
         "\nHIP kernel errors might be asynchronously reported at some other API call, so the "
         "stacktrace below might be incorrect.\nFor debugging consider passing "
         "AMD_SERIALIZE_KERNEL=3\nCompile with `TORCH_USE_HIP_DSA` to enable device-side "
         "assertions.\n";
}

struct ThreadState {
  c10::DeviceIndex device = 0;
  std::array<c10::StreamId, max_devices> streams{};
};
ThreadState& thread_state() {
  thread_local ThreadState state;
  return state;
}

struct Streams {
  std::mutex mutex;
  std::map<std::pair<c10::DeviceIndex, c10::StreamId>, std::unique_ptr<StreamQueue>> queues;
};
Streams& streams() {
  static auto* leaked = new Streams;
  return *leaked;
}

}  // namespace

int64_t steady_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void wait_until_steady(int64_t deadline_ns) {
  constexpr int64_t spin_ns = 200'000;  // a sleeping thread wakes up some 50 us late
  const int64_t left = deadline_ns - steady_ns();
  if (left > spin_ns) std::this_thread::sleep_for(std::chrono::nanoseconds(left - spin_ns));
  while (steady_ns() < deadline_ns) std::this_thread::yield();
}

void hang() {
  ++hanging;
  while (true) std::this_thread::sleep_for(std::chrono::hours(1));
}

void poison(std::string_view words) {
  const std::lock_guard lock(error_mutex());
  if (!device_error.load()) device_error = std::make_unique<std::string>(words).release();
}
void poison_at_synchronisation(std::string_view words) {
  const std::lock_guard lock(error_mutex());
  if (!failed()) unreported_error = std::make_unique<std::string>(words).release();
}
void throw_if_poisoned_at_synchronisation() {
  if (const auto* words = unreported_error.load()) poison(*words);
  throw_if_poisoned();
}
void throw_if_poisoned() {
  if (const auto* words = device_error.load()) throw_hip_error(*words);
}
void throw_hip_error(std::string_view words) { TORCH_CHECK(false, words_of_hip(words)); }

void StreamQueue::start_thread() {
  static std::once_flag once;
  std::call_once(once, [] { std::atexit(end_of_process); });
  started_ = true;
  std::thread([this] { work_loop(); }).detach();
}

uint64_t StreamQueue::submit(Work work) {
  throw_if_poisoned();
  const bool shown = work.kind != WorkKind::marker && !work.hidden;
  if (shown) work.launch = next_launch();
  const RuntimeCall call(work.kind == WorkKind::copy ? "hipMemcpyAsync" : "hipLaunchKernel",
                         shown ? work.launch : Launch());
  return enqueue(std::move(work));
}

uint64_t StreamQueue::enqueue(Work work) {
  const std::lock_guard lock(mutex_);
  if (!started_) start_thread();
  waiting_.push_back(std::move(work));
  submitted_.notify_one();
  return ++last_ticket_;
}

void StreamQueue::run(Work work) {
  // Shared with the queue's thread: the work may be dropped when the device is poisoned.
  const auto thrown = std::make_shared<std::exception_ptr>();
  work.body = [thrown, body = std::move(work.body)] {
    try {
      body();
    } catch (...) {
      *thrown = std::current_exception();
    }
  };
  if (work.kind == WorkKind::copy) {
    throw_if_poisoned();
    work.launch = next_launch();
    const RuntimeCall call("hipMemcpyWithStream", work.launch);
    wait(enqueue(std::move(work)));
  } else {
    wait(submit(std::move(work)));
  }
  throw_if_poisoned_at_synchronisation();
  if (*thrown) std::rethrow_exception(*thrown);
}

void StreamQueue::wait(uint64_t ticket) {
  std::unique_lock lock(mutex_);
  completed_.wait(lock, [&] { return done_tickets_ >= ticket; });
}
void StreamQueue::wait_all() {
  std::unique_lock lock(mutex_);
  const uint64_t ticket = last_ticket_;
  completed_.wait(lock, [&] { return done_tickets_ >= ticket; });
}
bool StreamQueue::done(uint64_t ticket) {
  const std::lock_guard lock(mutex_);
  return done_tickets_ >= ticket;
}
bool StreamQueue::idle() {
  const std::lock_guard lock(mutex_);
  return done_tickets_ == last_ticket_;
}

void StreamQueue::work_loop() {
  // Kernels run below autograd, and nobody's dispatch trace sees the CPU operators they use.
  const at::DisableRecordFunctionGuard unseen;
  const c10::InferenceMode inference;
  set_current_device(device_);
  // Steady times on machines that do other work too: OpenMP's threads would wait for each other.
  if (omp_set_num_threads) omp_set_num_threads(1);
  while (true) {
    Work work;
    {
      std::unique_lock lock(mutex_);
      submitted_.wait(lock, [&] { return !waiting_.empty(); });
      work = std::move(waiting_.front());
      waiting_.pop_front();
      ++busy;
    }
    if (!ending) perform(work);
    work.body = nullptr;  // gives the tensors back before anyone learns that the work is done
    --busy;
    if (ending) return;
    const std::lock_guard lock(mutex_);
    ++done_tickets_;
    completed_.notify_all();
  }
}

void StreamQueue::perform(Work& work) {
  if (work.kind != WorkKind::marker && failed()) return;
  const int64_t profile_start = profile_ns();
  const int64_t start = steady_ns();
  try {
    work.body();
  } catch (const std::exception& error) {
    // What a GPU kernel finds wrong in its data is an assertion on the device.
    std::fprintf(stderr, "simulated ROCm device: %.*s: %s\n", static_cast<int>(work.name.size()),
                 work.name.data(), error.what());
    if (!failed()) poison("device-side assert triggered");
    return;
  }
  if (work.kind == WorkKind::marker) return;
  wait_until_steady(start + work.minimum_ns);
  if (work.hidden) return;
  record_activity({.name = std::string(work.name),
                   .kind = work.kind == WorkKind::copy ? ActivityKind::copy : ActivityKind::kernel,
                   .start_ns = profile_start,
                   .end_ns = profile_start + steady_ns() - start,
                   .launch = work.launch,
                   .device = device_,
                   .resource = id_,
                   .bytes = work.bytes});
}

Mark mark(StreamQueue& queue) {
  auto time = std::make_shared<int64_t>(0);
  const uint64_t ticket = queue.submit({.body = [time] { *time = steady_ns(); }, .name = "event"});
  return {&queue, ticket, std::move(time)};
}

c10::DeviceIndex device_count() { return static_cast<c10::DeviceIndex>(switches().devices()); }
c10::DeviceIndex current_device() { return thread_state().device; }
void set_current_device(c10::DeviceIndex device) {
  check_device_index(device);
  thread_state().device = device;
}
void check_device_index(c10::DeviceIndex device) {
  if (device < 0 || device >= device_count()) throw_hip_error("invalid device ordinal");
}

StreamQueue& stream_queue(c10::DeviceIndex device, c10::StreamId id) {
  check_device_index(device);
  auto& all = streams();
  const std::lock_guard lock(all.mutex);
  auto& queue = all.queues[{device, id}];
  if (!queue) queue = std::make_unique<StreamQueue>(device, id);
  return *queue;
}
StreamQueue& current_queue(c10::DeviceIndex device) {
  check_device_index(device);
  return stream_queue(device, thread_state().streams[static_cast<size_t>(device)]);
}
c10::StreamId exchange_current_stream(c10::DeviceIndex device, c10::StreamId id) {
  check_device_index(device);
  return std::exchange(thread_state().streams[static_cast<size_t>(device)], id);
}
c10::StreamId next_pool_stream() {
  static std::atomic<c10::StreamId> next{0};
  return 1 + next++ % pool_size;
}

void wait_for_device(c10::DeviceIndex device) {
  std::vector<StreamQueue*> of_device;
  {
    auto& all = streams();
    const std::lock_guard lock(all.mutex);
    for (auto& [key, queue] : all.queues) {
      if (key.first == device) of_device.push_back(queue.get());
    }
  }
  for (auto* queue : of_device) queue->wait_all();
}

void synchronize_device(c10::DeviceIndex device) {
  check_device_index(device);
  throw_if_poisoned();
  const RuntimeCall call("hipDeviceSynchronize");
  wait_for_device(device);
  throw_if_poisoned_at_synchronisation();
}

}  // namespace assay_simulated
