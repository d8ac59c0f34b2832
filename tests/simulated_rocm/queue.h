// SPDX-License-Identifier: Apache-2.0
// Streams of the simulated device: one thread each, which does its work in order.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/Stream.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "profiler.h"

namespace assay_simulated {

enum class WorkKind { marker, kernel, copy };

struct Work {
  std::function<void()> body;
  std::string_view name;  // must outlive the work: a literal, or kept by a leaked object
  WorkKind kind = WorkKind::marker;
  int64_t minimum_ns = 0;
  int64_t bytes = 0;    // of a copy
  bool hidden = false;  // from the profiler
  Launch launch = {};
};

class StreamQueue {
 public:
  StreamQueue(c10::DeviceIndex device, c10::StreamId id) : device_(device), id_(id) {}
  StreamQueue(const StreamQueue&) = delete;
  StreamQueue& operator=(const StreamQueue&) = delete;

  // The ticket is what to wait for. Throws when the device is poisoned.
  uint64_t submit(Work work);
  // Submits, waits and throws what the work threw.
  void run(Work work);

  // These do not look at the device's error.
  void wait(uint64_t ticket);
  void wait_all();
  bool done(uint64_t ticket);
  bool idle();

  c10::DeviceIndex device() const { return device_; }
  c10::StreamId id() const { return id_; }

 private:
  uint64_t enqueue(Work work);
  void start_thread();
  void work_loop();
  void perform(Work& work);

  const c10::DeviceIndex device_;
  const c10::StreamId id_;
  std::mutex mutex_;
  std::condition_variable submitted_;
  std::condition_variable completed_;
  std::deque<Work> waiting_;
  uint64_t last_ticket_ = 0;
  uint64_t done_tickets_ = 0;
  bool started_ = false;
};

// An event remembers a place in a queue; its time is taken by the queue's thread.
struct Mark {
  StreamQueue* queue;
  uint64_t ticket;
  std::shared_ptr<int64_t> steady_ns;
};
Mark mark(StreamQueue& queue);

c10::DeviceIndex device_count();
c10::DeviceIndex current_device();
void set_current_device(c10::DeviceIndex device);
void check_device_index(c10::DeviceIndex device);

StreamQueue& stream_queue(c10::DeviceIndex device, c10::StreamId id);
StreamQueue& current_queue(c10::DeviceIndex device);
// Returns the id of the stream that was current.
c10::StreamId exchange_current_stream(c10::DeviceIndex device, c10::StreamId id);
c10::StreamId next_pool_stream();

void synchronize_device(c10::DeviceIndex device);

// As synchronize_device, but nobody learns of it and of the device's error.
void wait_for_device(c10::DeviceIndex device);

// The sticky error: once set, every later call on the device throws it, until the process ends.
void poison(std::string_view words);
// The same from the next synchronisation on; until then only the work is dropped.
void poison_at_synchronisation(std::string_view words);
// For launches and allocations, and for calls that synchronise.
void throw_if_poisoned();
void throw_if_poisoned_at_synchronisation();

[[noreturn]] void throw_hip_error(std::string_view words);

// On a queue's thread: the work never ends, and the process can still end.
[[noreturn]] void hang();

int64_t steady_ns();
void wait_until_steady(int64_t deadline_ns);

}  // namespace assay_simulated
