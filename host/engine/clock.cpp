// SPDX-License-Identifier: Apache-2.0
#include "clock.hpp"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace assay::engine {

namespace {
// One fill must last longer than its own launch (5 to 10 us), or holding would never get ahead.
constexpr double shortest_useful_fill_us = 50.0;
constexpr std::int64_t smallest_buffer_bytes = std::int64_t{4} << 20;
constexpr std::int64_t largest_buffer_bytes = std::int64_t{512} << 20;
constexpr double longest_hold_us = 50e3;
}  // namespace

device_clock::device_clock(const c10::Device& device) : device_(device) {
  if (!device.is_cpu()) {
    guard_.emplace(device.type());
  }
}

void device_clock::synchronize() const {
  if (guard_) {
    guard_->synchronizeDevice(device_.index());
  }
}

void device_clock::prepare_hold() {
  for (std::int64_t bytes = smallest_buffer_bytes; bytes <= largest_buffer_bytes; bytes *= 4) {
    hold_buffer_ = at::empty({bytes}, at::device(device_).dtype(at::kByte));
    c10::Event begin(device_.type(), c10::EventFlag::BACKEND_DEFAULT);
    c10::Event end(device_.type(), c10::EventFlag::BACKEND_DEFAULT);
    hold_buffer_.fill_(1);
    begin.record(stream());
    hold_buffer_.fill_(2);
    end.record(stream());
    synchronize();
    hold_fill_us_ = begin.elapsedTime(end) * 1e3;
    if (hold_fill_us_ >= shortest_useful_fill_us) {
      return;
    }
  }
}

void device_clock::hold(double us) {
  if (!hold_buffer_.defined()) {
    prepare_hold();
  }
  if (hold_fill_us_ <= 0.0) {
    return;
  }
  const auto fills = static_cast<int>(std::ceil(std::min(us, longest_hold_us) / hold_fill_us_));
  for (int i = 0; i < std::max(1, fills); ++i) {
    hold_buffer_.fill_(i % 2);  // a byte holds no large number, and there may be many fills
  }
}

void device_clock::flush_caches(double hold_us) {
  // The largest last-level caches hold 256 MiB (AMD's Infinity Cache, behind L2).
  constexpr std::int64_t flush_bytes = std::int64_t{512} << 20;
  constexpr int most_fills = 64;
  if (!flush_buffer_.defined()) {
    flush_buffer_ = at::empty({flush_bytes}, at::device(device_).dtype(at::kByte));
    flush_buffer_.fill_(1);
    if (guard_) {
      c10::Event begin(device_.type(), c10::EventFlag::BACKEND_DEFAULT);
      c10::Event end(device_.type(), c10::EventFlag::BACKEND_DEFAULT);
      begin.record(stream());
      flush_buffer_.fill_(2);
      end.record(stream());
      synchronize();
      flush_us_ = begin.elapsedTime(end) * 1e3;
    }
  }
  const int fills = flush_us_ > 0.0 ? static_cast<int>(std::ceil(hold_us / flush_us_)) : 1;
  for (int i = 0; i < std::clamp(fills, 1, most_fills); ++i) {
    flush_buffer_.fill_(i % 2);
  }
}

device_clock& clock_of(const c10::Device& device) {
  static std::map<std::string, device_clock> clocks;
  return clocks.try_emplace(device.str(), device).first->second;
}

}  // namespace assay::engine
