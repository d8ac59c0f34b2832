// SPDX-License-Identifier: Apache-2.0
#include "test_operators.hpp"

#include <c10/util/Exception.h>
#include <torch/library.h>

#include <chrono>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <vector>

namespace assay::tests {

namespace {

std::int64_t calls = 0;

at::Tensor counted(const at::Tensor& x) {
  ++calls;
  return x;
}

at::Tensor sleeping(const at::Tensor& x, double milliseconds) {
  ++calls;
  std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(milliseconds));
  return x;
}

// Waits by the clock and not by sleeping, whose length scatters.
at::Tensor spinning(const at::Tensor& x, double milliseconds) {
  ++calls;
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::duration<double, std::milli>(milliseconds);
  while (std::chrono::steady_clock::now() < end) {
  }
  return x;
}

// Every other call takes three times as long, so that no median settles.
at::Tensor unsteady(const at::Tensor& x) { return sleeping(x, calls % 2 == 0 ? 3.0 : 9.0); }

at::Tensor warning(const at::Tensor& x) {
  TORCH_WARN("this operator warns");
  return x;
}

at::Tensor warning_once(const at::Tensor& x) {
  TORCH_WARN_ONCE("this operator warns once");
  return x;
}

at::Tensor throwing(const at::Tensor& x, const std::string& what) {
  if (what == "c10") {
    TORCH_CHECK(false, "a planted c10 error");
  }
  if (what == "std") {
    throw std::out_of_range("a planted standard error");
  }
  if (what == "int") {
    throw 42;
  }
  return x;
}

at::Tensor failing_later(const at::Tensor& x) {
  ++calls;
  TORCH_CHECK(calls % 2 == 1, "a planted error in the second call");
  return x;
}

at::Tensor only_float32(const at::Tensor& x) {
  TORCH_CHECK(x.scalar_type() == at::kFloat, "only float32 is served here");
  return x.add(1);
}

// One argument of each kind that a plan can give; answers the first.
at::Tensor kinds(const at::Tensor& x, bool /*flag*/, std::int64_t /*whole*/, double /*real*/,
                 const std::string& /*text*/, at::ScalarType /*type*/, at::Scalar /*number*/,
                 at::IntArrayRef /*wholes*/, at::ArrayRef<double> /*reals*/,
                 const std::vector<at::Tensor>& /*tensors*/) {
  return x;
}

std::tuple<at::Tensor, std::vector<at::Tensor>> nested(const at::Tensor& x) {
  return {x, {x.add(1), x.add(2)}};
}

}  // namespace

std::int64_t operator_calls() { return calls; }

TORCH_LIBRARY(assay_test, m) {
  m.def("counted(Tensor x) -> Tensor", counted);
  m.def("sleeping(Tensor x, float milliseconds) -> Tensor", sleeping);
  m.def("spinning(Tensor x, float milliseconds) -> Tensor", spinning);
  m.def("unsteady(Tensor x) -> Tensor", unsteady);
  m.def("warning(Tensor x) -> Tensor", warning);
  m.def("warning_once(Tensor x) -> Tensor", warning_once);
  m.def("throwing(Tensor x, str what) -> Tensor", throwing);
  m.def("only_float32(Tensor x) -> Tensor", only_float32);
  m.def("failing_later(Tensor x) -> Tensor", failing_later);
  m.def(
      "kinds(Tensor x, bool flag, int whole, float real, str text, ScalarType type, "
      "Scalar number, int[2] wholes, float[] reals, Tensor[] tensors) -> Tensor",
      kinds);
  m.def("nested(Tensor x) -> (Tensor, Tensor[])", nested);
}

}  // namespace assay::tests
