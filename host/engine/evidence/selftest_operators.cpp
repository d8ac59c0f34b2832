// SPDX-License-Identifier: Apache-2.0
//
// Every operator here computes relu and does one thing wrong.
#include "evidence/selftest_operators.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/_assert_async.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <torch/library.h>

#include <chrono>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string_view>
#include <thread>

namespace assay::engine {

namespace {

constexpr std::string_view name_space = "assay_selftest::";

at::Tensor first_element(const at::Tensor& t) { return t.view({-1}).narrow(0, 0, 1); }

at::Tensor good(const at::Tensor& x) { return at::relu(x); }

at::Tensor cpu_output(const at::Tensor& x) { return at::relu(x.to(at::kCPU)); }

at::Tensor round_trip(const at::Tensor& x) { return cpu_output(x).to(x.device()); }

at::Tensor host_sync(const at::Tensor& x) {
  const at::Tensor y = at::relu(x);
  return first_element(y).item<double>() < 0.0 ? x : y;
}

at::Tensor wrong_value(const at::Tensor& x) {
  at::Tensor y = at::relu(x);
  first_element(y).add_(1.0);
  return y;
}

at::Tensor nan(const at::Tensor& x) {
  at::Tensor y = at::relu(x);
  first_element(y).fill_(std::numeric_limits<double>::quiet_NaN());
  return y;
}

at::Tensor zeros(const at::Tensor& x) { return at::zeros_like(x); }

at::Tensor warn(const at::Tensor& x) {
  TORCH_WARN("a planted warning of assay selftest");
  return at::relu(x);
}

at::Tensor throws(const at::Tensor& /*x*/) {
  TORCH_CHECK(false, "a planted error of assay selftest");
}

at::Tensor hang(const at::Tensor& x) {
  for (;;) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  return x;
}

at::Tensor aborts(const at::Tensor& /*x*/) { std::abort(); }

at::Tensor device_assert(const at::Tensor& x) {
  at::_assert_async(at::zeros({}, at::device(x.device()).dtype(at::kBool)));
  return at::relu(x);
}

at::Tensor out_of_memory(const at::Tensor& x) {
  constexpr std::int64_t more_than_any = std::int64_t{1} << 50;
  return x.new_empty({more_than_any});
}

at::Tensor overrun(const at::Tensor& x) { return at::relu(x); }

// One element behind the result, where the memory has room for it.
at::Tensor& overrun_out(const at::Tensor& x, at::Tensor& out) {
  out.copy_(at::relu(x));
  const std::int64_t behind = out.storage_offset() + out.numel();
  if (static_cast<std::size_t>(behind + 1) * out.element_size() <= out.storage().nbytes()) {
    out.as_strided({1}, {1}, behind).fill_(1.0);
  }
  return out;
}

// The same but for the last digits, which change from call to call.
at::Tensor unrepeatable(const at::Tensor& x) {
  static int calls = 0;
  at::Tensor y = at::relu(x);
  calls = (calls + 1) % 5;
  return y.mul(1.0 + 2e-7 * calls);
}

}  // namespace

void register_selftest_operators(const assay_check& check) {
  static std::unique_ptr<torch::Library> library;
  const bool named =
      check.call_count > 0 &&
      std::string_view(check.calls[0]->op).substr(0, name_space.size()) == name_space;
  if (!named || library) {
    return;
  }
  library = std::make_unique<torch::Library>(torch::Library::DEF, "assay_selftest", std::nullopt,
                                             __FILE__, __LINE__);
  const auto add = [](const char* schema, auto* function) {
    library->def(schema, torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd, function));
  };
  add("good(Tensor x) -> Tensor", &good);
  add("cpu_output(Tensor x) -> Tensor", &cpu_output);
  add("round_trip(Tensor x) -> Tensor", &round_trip);
  add("host_sync(Tensor x) -> Tensor", &host_sync);
  add("wrong_value(Tensor x) -> Tensor", &wrong_value);
  add("nan(Tensor x) -> Tensor", &nan);
  add("zeros(Tensor x) -> Tensor", &zeros);
  add("warn(Tensor x) -> Tensor", &warn);
  add("throws(Tensor x) -> Tensor", &throws);
  add("hang(Tensor x) -> Tensor", &hang);
  add("aborts(Tensor x) -> Tensor", &aborts);
  add("device_assert(Tensor x) -> Tensor", &device_assert);
  add("out_of_memory(Tensor x) -> Tensor", &out_of_memory);
  add("overrun(Tensor x) -> Tensor", &overrun);
  add("overrun.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", &overrun_out);
  add("unrepeatable(Tensor x) -> Tensor", &unrepeatable);
}

}  // namespace assay::engine
