// SPDX-License-Identifier: Apache-2.0
// The device guard: devices, streams and events of the simulated device.
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <memory>

#include "queue.h"

namespace assay_simulated {
namespace {

using c10::Device;
using c10::DeviceIndex;
using c10::Stream;

struct Event {
  Mark mark;
  bool timed;
};

StreamQueue& queue_of(const Stream& stream) {
  return stream_queue(stream.device_index(), stream.id());
}
Device with_index(Device device) {
  return device.has_index() ? device : Device(c10::kCUDA, current_device());
}

struct Guard final : c10::impl::DeviceGuardImplInterface {
  static constexpr c10::DeviceType static_type = c10::kCUDA;
  Guard() = default;
  explicit Guard(c10::DeviceType) {}

  c10::DeviceType type() const override { return c10::kCUDA; }
  DeviceIndex deviceCount() const noexcept override { return device_count(); }
  Device getDevice() const override { return {c10::kCUDA, current_device()}; }
  void setDevice(Device device) const override { set_current_device(with_index(device).index()); }
  void uncheckedSetDevice(Device device) const noexcept override {
    if (device.index() >= 0 && device.index() < device_count()) set_current_device(device.index());
  }
  Device exchangeDevice(Device device) const override {
    const Device before = getDevice();
    setDevice(device);
    return before;
  }

  Stream getStream(Device device) const override {
    device = with_index(device);
    return Stream(Stream::UNSAFE, device, current_queue(device.index()).id());
  }
  Stream getDefaultStream(Device device) const override {
    return Stream(Stream::DEFAULT, with_index(device));
  }
  Stream getStreamFromGlobalPool(Device device, bool /*high_priority*/) const override {
    return Stream(Stream::UNSAFE, with_index(device), next_pool_stream());
  }
  Stream getNewStream(Device device, int /*priority*/) const override {
    return Stream(Stream::UNSAFE, with_index(device), next_pool_stream());
  }
  Stream exchangeStream(Stream stream) const override {
    return Stream(Stream::UNSAFE, stream.device(),
                  exchange_current_stream(stream.device_index(), stream.id()));
  }

  bool queryStream(const Stream& stream) const override {
    throw_if_poisoned();
    const bool idle = queue_of(stream).idle();
    if (idle) throw_if_poisoned_at_synchronisation();
    return idle;
  }
  void synchronizeStream(const Stream& stream) const override {
    throw_if_poisoned();
    const RuntimeCall call("hipStreamSynchronize");
    queue_of(stream).wait_all();
    throw_if_poisoned_at_synchronisation();
  }
  void synchronizeDevice(const DeviceIndex device) const override { synchronize_device(device); }

  void record(void** event, const Stream& stream, const DeviceIndex /*device*/,
              const c10::EventFlag flag) const override {
    auto recorded = std::make_unique<Event>(
        Event{mark(queue_of(stream)), flag == c10::EventFlag::BACKEND_DEFAULT});
    const std::unique_ptr<Event> before(static_cast<Event*>(*event));
    *event = recorded.release();
  }
  void destroyEvent(void* event, const DeviceIndex /*device*/) const noexcept override {
    const std::unique_ptr<Event> destroyed(static_cast<Event*>(event));
  }
  void block(void* event, const Stream& stream) const override {
    if (!event) return;
    const Mark awaited = static_cast<Event*>(event)->mark;
    if (awaited.queue == &queue_of(stream)) return;
    queue_of(stream).submit(
        {.body = [awaited] { awaited.queue->wait(awaited.ticket); }, .name = "wait for event"});
  }
  bool queryEvent(void* event) const override {
    throw_if_poisoned();
    if (!event) return true;
    const auto& mark = static_cast<Event*>(event)->mark;
    const bool done = mark.queue->done(mark.ticket);
    if (done) throw_if_poisoned_at_synchronisation();
    return done;
  }
  void synchronizeEvent(void* event) const override {
    throw_if_poisoned();
    if (!event) return;
    const auto& mark = static_cast<Event*>(event)->mark;
    const RuntimeCall call("hipEventSynchronize");
    mark.queue->wait(mark.ticket);
    throw_if_poisoned_at_synchronisation();
  }
  double elapsedTime(void* first, void* second, const DeviceIndex /*device*/) const override {
    throw_if_poisoned();
    const auto* start = static_cast<Event*>(first);
    const auto* end = static_cast<Event*>(second);
    if (!start || !end || !start->timed || !end->timed) throw_hip_error("invalid resource handle");
    if (!queryEvent(first) || !queryEvent(second)) throw_hip_error("device not ready");
    return static_cast<double>(*end->mark.steady_ns - *start->mark.steady_ns) * 1e-6;
  }
};

C10_REGISTER_GUARD_IMPL(CUDA, Guard)

}  // namespace
}  // namespace assay_simulated
