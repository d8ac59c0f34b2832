// SPDX-License-Identifier: Apache-2.0
#include "evidence/ceilings.hpp"

#include <ATen/Context.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/add.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/neg.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/sum.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "clock.hpp"
#include "warnings.hpp"

namespace assay::engine {

namespace {

using nlohmann::json;

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
constexpr std::int64_t device_buffer_bytes = 1024 * mebibyte;  // four times the largest caches
constexpr std::int64_t host_buffer_bytes = 256 * mebibyte;     // for the CPU's own bandwidth
constexpr std::int64_t transfer_bytes = 64 * mebibyte;
constexpr double longest_probe_us = 2e4;  // a single call that may still be made larger
constexpr int least_samples = 4;
constexpr int agreeing_samples = 3;
constexpr double agreement = 1.003;  // of the best samples, after which more would not be better

/// How one ceiling is sampled. The best of many short samples is near what the device can do even
/// where other work takes turns with it, as it does on a CPU; a GPU is alone with its kernels, and
/// needs few.
struct sampling {
  double batch_us;   // what a sample should last, by repeating the call
  double least_us;   // for all samples of one call: clocks rise with the work
  double budget_us;  // likewise, the least number of samples apart
};
constexpr sampling on_gpu{4e3, 1e4, 3e4};
constexpr sampling on_cpu{3e2, 4e4, 1.2e5};
constexpr double longest_us = 5e5;  // for one call, come what may

double gb_per_s(double bytes, double us) { return bytes / us / 1e3; }

class meter {
 public:
  explicit meter(const c10::Device& device) : device_(device), clock_(clock_of(device)) {}

  [[nodiscard]] const c10::Device& device() const { return device_; }

  /// Microseconds per call at best; on the device where it has a clock. Ends when the best samples
  /// agree, or the budget is spent. `once`: what a call takes about.
  double best_us(const std::function<void()>& call, double once) {
    const sampling& by = clock_.has_device_time() ? on_gpu : on_cpu;
    const auto begin = host_clock::now();
    const auto calls = static_cast<int>(std::clamp(by.batch_us / std::max(once, 0.1), 1.0, 200.0));
    std::vector<double> samples;
    for (;;) {
      samples.push_back(sample(calls, once, call) / calls);
      const double spent = us_between(begin, host_clock::now());
      const bool enough = static_cast<int>(samples.size()) >= least_samples && spent > by.least_us;
      if (spent > longest_us || (enough && (spent > by.budget_us || agree(samples)))) {
        return *std::min_element(samples.begin(), samples.end());
      }
    }
  }
  double best_us(const std::function<void()>& call) { return best_us(call, probe_us(call)); }

  /// The least of a few calls, each waited for. Libraries are set up in the first one, which does
  /// not count.
  double probe_us(const std::function<void()>& call) {
    const double first = wall_us(1, call);
    double best = wall_us(1, call);
    for (int i = 0; i < 2 && first + best < longest_us; ++i) {
      best = std::min(best, wall_us(1, call));
    }
    return best;
  }

  double wall_us(int calls, const std::function<void()>& call) {
    clock_.synchronize();
    const auto begin = host_clock::now();
    for (int i = 0; i < calls; ++i) {
      call();
    }
    clock_.synchronize();
    return us_between(begin, host_clock::now());
  }

 private:
  static bool agree(std::vector<double>& samples) {
    std::partial_sort(samples.begin(), samples.begin() + agreeing_samples, samples.end());
    return samples[agreeing_samples - 1] <= agreement * samples[0];
  }

  double sample(int calls, double once_us, const std::function<void()>& call) {
    if (!clock_.has_device_time()) {
      return wall_us(calls, call);
    }
    const double hold_us = std::min(once_us * calls, 2000.0);
    return clock_
        .time_on_device(hold_us,
                        [&] {
                          for (int i = 0; i < calls; ++i) {
                            call();
                          }
                        })
        .us;
  }

  c10::Device device_;
  device_clock& clock_;
};

// As large as the device allows, down to a sixteenth of what is wanted.
at::Tensor make_buffer(const c10::Device& device, std::int64_t bytes) {
  for (int halvings = 0;; ++halvings) {
    try {
      at::Tensor made = at::empty({(bytes >> halvings) / 4}, at::device(device).dtype(at::kFloat));
      made.fill_(1.5);
      return made;
    } catch (const c10::Error&) {
      if (halvings == 4) {
        throw;
      }
    }
  }
}

json rate_of(const std::function<double()>& measure, json& why) {
  try {
    return measure();
  } catch (const c10::Error& e) {
    why = e.what_without_backtrace();
  } catch (const std::exception& e) {
    why = e.what();
  }
  return nullptr;
}

void add_bandwidths(meter& m, json& record) {
  const std::int64_t wanted = m.device().is_cpu() ? host_buffer_bytes : device_buffer_bytes;
  const at::Tensor from = make_buffer(m.device(), wanted);
  at::Tensor to = at::empty_like(from);
  const auto bytes = static_cast<double>(from.nbytes());
  // A copy may be served by a copy engine, which is not always the fastest way.
  const double copy_us =
      std::min(m.best_us([&] { to.copy_(from); }), m.best_us([&] { at::add_out(to, from, 1); }));
  record["copy_gb_per_s"] = gb_per_s(2.0 * bytes, copy_us);
  record["read_gb_per_s"] = gb_per_s(bytes, m.best_us([&] { at::sum(from); }));
}

void add_transfers(meter& m, json& record) {
  if (m.device().is_cpu()) {
    return;
  }
  const at::Tensor there = at::empty({transfer_bytes}, at::device(m.device()).dtype(at::kByte));
  at::Tensor here;
  try {
    here = at::empty({transfer_bytes}, at::dtype(at::kByte).pinned_memory(true));
  } catch (const std::exception&) {
    here = at::empty({transfer_bytes}, at::dtype(at::kByte));
  }
  here.fill_(1);
  const auto bytes = static_cast<double>(transfer_bytes);
  record["host_to_device_gb_per_s"] = gb_per_s(bytes, m.best_us([&] { there.copy_(here, true); }));
  record["device_to_host_gb_per_s"] = gb_per_s(bytes, m.best_us([&] { here.copy_(there, true); }));
}

// A kernel over one element does next to nothing but being launched.
void add_launch(meter& m, json& record) {
  constexpr int calls = 300;
  constexpr int rows = 8;
  at::Tensor one = at::ones({1}, at::device(m.device()).dtype(at::kFloat));
  const auto launch = [&] { one.neg_(); };
  m.wall_us(calls, launch);
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < rows; ++i) {
    best = std::min(best, m.wall_us(calls, launch) / calls);
  }
  record["launch_us"] = best;
  if (!m.device().is_cpu()) {
    record["launch_kernel_us"] = m.best_us(launch);
  }
}

// Puts the process's setting back.
class matmul_precision {
 public:
  matmul_precision() : before_(at::globalContext().float32MatmulPrecision()) {}
  ~matmul_precision() {
    at::globalContext().setFloat32MatmulPrecision(
        before_ == at::Float32MatmulPrecision::HIGHEST ? "highest"
        : before_ == at::Float32MatmulPrecision::HIGH  ? "high"
                                                       : "medium");
  }
  matmul_precision(const matmul_precision&) = delete;
  matmul_precision& operator=(const matmul_precision&) = delete;

 private:
  at::Float32MatmulPrecision before_;
};

// The largest sizes are not the fastest where the device then draws more power than it may. So of
// all sizes those are measured that come near the next one, in ascending order.
double matrix_rate(meter& m, const std::function<std::function<void()>(std::int64_t)>& make) {
  constexpr double near_enough = 0.7;
  double best = 0.0;
  double last_flops = 0.0;
  double last_us = 0.0;
  std::function<void()> last;
  const auto measure_last = [&] {
    best = std::max(best, last_flops / m.best_us(last, last_us) / 1e6);
  };
  for (const std::int64_t n : {256, 512, 1024, 2048, 4096, 8192, 16384}) {
    const double flops = 2.0 * std::pow(static_cast<double>(n), 3);
    auto multiply = make(n);
    const double us = m.probe_us(multiply);
    if (last && last_flops / last_us > near_enough * flops / us) {
      measure_last();
    }
    last = std::move(multiply);
    last_flops = flops;
    last_us = us;
    if (8.0 * us > longest_probe_us) {
      break;
    }
  }
  measure_last();
  return best;
}

std::function<void()> product(const c10::Device& device, c10::ScalarType type, std::int64_t n) {
  const auto options = at::device(device).dtype(type);
  const at::Tensor a = at::randn({n, n}, at::device(device).dtype(at::kFloat)).to(type);
  const at::Tensor b = at::randn({n, n}, at::device(device).dtype(at::kFloat)).to(type);
  at::Tensor c = at::empty({n, n}, options);
  return [a, b, c]() mutable { at::mm_out(c, a, b); };
}

// Through the schema: the operator's C++ signature differs from release to release.
std::function<void()> scaled_product(const c10::Device& device, std::int64_t n) {
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("aten::_scaled_mm", "");
  const auto make = [&] {
    return at::randn({n, n}, at::device(device).dtype(at::kFloat)).to(at::kFloat8_e4m3fn);
  };
  const at::Tensor a = make();
  const at::Tensor b = make().t();
  const at::Tensor scale = at::ones({}, at::device(device).dtype(at::kFloat));
  torch::jit::Stack arguments;
  for (const c10::Argument& argument : op.schema().arguments()) {
    const std::string& name = argument.name();
    if (name == "self") {
      arguments.emplace_back(a);
    } else if (name == "mat2") {
      arguments.emplace_back(b);
    } else if (name == "scale_a" || name == "scale_b") {
      arguments.emplace_back(scale);
    } else if (name == "out_dtype") {
      arguments.emplace_back(static_cast<std::int64_t>(at::kBFloat16));
    } else {
      arguments.push_back(argument.default_value().value_or(c10::IValue()));
    }
  }
  return [op, arguments] {
    torch::jit::Stack stack = arguments;
    op.callBoxed(stack);
  };
}

void add_matrix_rates(meter& m, json& record) {
  json& rates = record["matrix_tflop_per_s"];
  json& why = record["matrix_why"];
  const auto of = [&](const char* name, c10::ScalarType type) {
    rates[name] = rate_of(
        [&] {
          return matrix_rate(m, [&](std::int64_t n) { return product(m.device(), type, n); });
        },
        why[name]);
  };
  const matmul_precision kept;
  auto& context = at::globalContext();
  context.setFloat32MatmulPrecision("highest");
  of("float32", at::kFloat);
  of("float16", at::kHalf);
  of("bfloat16", at::kBFloat16);
  if (m.device().is_cpu()) {
    why["tf32"] = why["float8_e4m3fn"] = "not measured on the CPU";
  } else {
    context.setFloat32MatmulPrecision("high");
    of("tf32", at::kFloat);
    constexpr double faster = 1.1;
    if (rates["tf32"].is_number() && rates["float32"].is_number() &&
        rates["tf32"].get<double>() < faster * rates["float32"].get<double>()) {
      rates["tf32"] = nullptr;
      why["tf32"] = "allowing TF32 makes float32 no faster here";
    }
    rates["float8_e4m3fn"] = rate_of(
        [&] {
          return matrix_rate(m, [&](std::int64_t n) { return scaled_product(m.device(), n); });
        },
        why["float8_e4m3fn"]);
  }
  for (auto& [name, reason] : why.items()) {
    if (!rates.contains(name)) {
      rates[name] = nullptr;
    }
  }
}

}  // namespace

json measure_ceilings(const c10::Device& device) {
  const c10::InferenceMode inference;
  const warning_catcher quiet;  // a rate that cannot be had is an answer, not a warning
  const auto begin = host_clock::now();
  json record{{"copy_gb_per_s", nullptr},
              {"read_gb_per_s", nullptr},
              {"host_to_device_gb_per_s", nullptr},
              {"device_to_host_gb_per_s", nullptr},
              {"launch_us", nullptr},
              {"launch_kernel_us", nullptr},
              {"matrix_tflop_per_s", json::object()},
              {"matrix_why", json::object()}};
  meter m(device);
  add_launch(m, record);
  add_bandwidths(m, record);
  add_transfers(m, record);
  add_matrix_rates(m, record);
  record["elapsed_s"] = us_between(begin, host_clock::now()) / 1e6;
  return record;
}

}  // namespace assay::engine
