// SPDX-License-Identifier: Apache-2.0
#include "direct_benchmark.hpp"

#include <ATen/ops/allclose.h>
#include <ATen/ops/full.h>
#include <benchmark/benchmark.h>

#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

#include "direct_calls.hpp"
#include "dtypes.hpp"
#include "inputs.hpp"
#include "paired_times.hpp"

namespace assay::benchmarks {

namespace {

struct pair_of_calls {
  std::string id;
  const assay_check* check;
  direct_call direct;

  [[nodiscard]] tensors own_inputs() const {
    return engine::make_inputs(*check, check->dtypes[0], at::kCPU, 0);
  }

  // Whole numbers are indices, for which 0 is always in range.
  [[nodiscard]] tensors tiny_inputs() const {
    tensors inputs;
    for (std::uint32_t i = 0; i < check->input_count; ++i) {
      const std::int32_t dtype = check->inputs[i]->dtype;
      const auto type =
          engine::scalar_type(dtype == ASSAY_DTYPE_OF_CHECK ? check->dtypes[0] : dtype);
      const bool floating = c10::isFloatingType(type);
      inputs.push_back(at::full(direct.tiny.at(i), floating ? 0.5 : 0.0, type));
    }
    return inputs;
  }
};

std::vector<pair_of_calls> pairs_of(const std::vector<loaded_check>& checks) {
  std::map<std::string, direct_call> direct;
  for (const auto& calls : {pointwise_calls(), layer_calls(), tensor_calls()}) {
    for (const direct_call& call : calls) {
      direct.emplace(call.check, call);
    }
  }
  std::vector<pair_of_calls> pairs;
  for (const loaded_check& loaded : checks) {
    const auto found = direct.find(loaded.id);
    if (found == direct.end()) {
      throw std::runtime_error("the check " + loaded.id + " has no direct calls here");
    }
    pairs.push_back({loaded.id, loaded.check, found->second});
    direct.erase(found);
  }
  if (!direct.empty()) {
    throw std::runtime_error("there are direct calls but no check for " + direct.begin()->first);
  }
  return pairs;
}

void add_benchmark(const std::string& name, const pair_of_calls& pair, bool tiny) {
  benchmark::RegisterBenchmark(
      name.c_str(),
      [pair, tiny](benchmark::State& state) {
        const tensors inputs = tiny ? pair.tiny_inputs() : pair.own_inputs();
        engine::bound_plan plan(*pair.check);
        plan.set_inputs(inputs);
        const auto boxed = [&](std::int64_t calls) { return time_plan_calls(plan, calls); };
        const auto direct = [&](std::int64_t calls) {
          return time_calls(calls, [&] { benchmark::DoNotOptimize(pair.direct.call(inputs)); });
        };
        run_paired(state, "boxed_ns", boxed, "direct_ns", direct);
      })
      ->UseManualTime()
      ->Iterations(1);
}

}  // namespace

void register_direct_benchmarks(const std::vector<loaded_check>& checks) {
  const auto pairs = pairs_of(checks);
  for (const bool tiny : {true, false}) {
    for (const pair_of_calls& pair : pairs) {
      add_benchmark((tiny ? "tiny/" : "checks/") + pair.id, pair, tiny);
    }
  }
}

bool direct_calls_agree(const std::vector<loaded_check>& checks) {
  bool agree = true;
  for (const pair_of_calls& pair : pairs_of(checks)) {
    for (const bool tiny : {true, false}) {
      const tensors inputs = tiny ? pair.tiny_inputs() : pair.own_inputs();
      engine::bound_plan plan(*pair.check);
      plan.set_inputs(inputs);
      plan.run();
      const at::Tensor boxed = plan.outputs().at(0);
      const at::Tensor direct = pair.direct.call(inputs);
      if (boxed.scalar_type() != direct.scalar_type() || boxed.sizes() != direct.sizes() ||
          !at::allclose(boxed.to(at::kDouble), direct.to(at::kDouble), 1e-5, 1e-6, true)) {
        std::fprintf(stderr, "%s%s: the direct calls answer otherwise than the plan\n",
                     pair.id.c_str(), tiny ? " (tiny)" : "");
        agree = false;
      }
    }
  }
  return agree;
}

}  // namespace assay::benchmarks
