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
#include <utility>
#include <vector>

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

  /// Time of each call, all caches having been flushed before it: on the device by an event pair,
  /// while the host is ahead by `hold_us` at least; on the CPU by the host's clock.
  template <typename Call>
  std::vector<double> time_cold(int calls, double hold_us, Call&& call) {
    std::vector<double> times;
    std::vector<std::pair<c10::Event, c10::Event>> pairs;
    synchronize();
    for (int i = 0; i < calls; ++i) {
      flush_caches(hold_us);
      if (!guard_) {
        const auto begin = host_clock::now();
        call();
        times.push_back(us_between(begin, host_clock::now()));
        continue;
      }
      c10::Event begin(device_.type(), c10::EventFlag::BACKEND_DEFAULT);
      c10::Event end(device_.type(), c10::EventFlag::BACKEND_DEFAULT);
      begin.record(stream());
      call();
      end.record(stream());
      pairs.emplace_back(std::move(begin), std::move(end));
    }
    synchronize();
    for (const auto& [begin, end] : pairs) {
      times.push_back(begin.elapsedTime(end) * 1e3);
    }
    return times;
  }

 private:
  void flush_caches(double hold_us);
  [[nodiscard]] c10::Stream stream() const { return guard_->getStream(device_); }
  void hold(double us);
  void prepare_hold();

  c10::Device device_;
  std::optional<c10::impl::VirtualGuardImpl> guard_;
  at::Tensor hold_buffer_;
  at::Tensor flush_buffer_;
  double flush_us_ = 0.0;      // device time of one fill of flush_buffer_
  double hold_fill_us_ = 0.0;  // device time of one fill of hold_buffer_
};

/// The clock of this device, kept for the life of the process.
device_clock& clock_of(const c10::Device& device);

}  // namespace assay::engine
