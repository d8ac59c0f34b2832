// SPDX-License-Identifier: Apache-2.0
//
// The two clocks of a measurement: the host's, and the device's own through events.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <chrono>
#include <optional>

namespace assay::engine {

using host_clock = std::chrono::steady_clock;

inline double us_between(host_clock::time_point begin, host_clock::time_point end) {
  return std::chrono::duration<double, std::micro>(end - begin).count();
}

/// One device, by LibTorch's device-neutral interfaces. On the CPU everything is immediate.
class device_clock {
 public:
  explicit device_clock(const c10::Device& device);

  [[nodiscard]] bool has_device_time() const { return guard_.has_value(); }

  /// Waits until the device has done all that was enqueued. Throws what the device reports.
  void synchronize() const;

  /// Device time of one batch, by an event pair around it. While the batch is being enqueued the
  /// device is kept busy, for `hold_us` at least, so that the pair holds no launch gaps; `held`
  /// says whether that lasted until the end.
  struct span {
    double us;
    bool held;
  };
  template <typename Batch>
  span time_on_device(double hold_us, Batch&& batch) {
    hold(hold_us);
    c10::Event begin(device_.type(), c10::EventFlag::BACKEND_DEFAULT);
    c10::Event end(device_.type(), c10::EventFlag::BACKEND_DEFAULT);
    begin.record(stream());
    batch();
    const bool held = !begin.query();
    end.record(stream());
    synchronize();
    return {begin.elapsedTime(end) * 1e3, held};
  }

 private:
  [[nodiscard]] c10::Stream stream() const { return guard_->getStream(device_); }
  void hold(double us);
  void prepare_hold();

  c10::Device device_;
  std::optional<c10::impl::VirtualGuardImpl> guard_;
  at::Tensor hold_buffer_;
  double hold_fill_us_ = 0.0;  // device time of one fill of hold_buffer_
};

/// The clock of this device, kept for the life of the process.
device_clock& clock_of(const c10::Device& device);

}  // namespace assay::engine
