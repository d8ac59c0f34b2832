// SPDX-License-Identifier: Apache-2.0
//
// assay_benchmarks [--verify] [--plugins DIR] [Google Benchmark's options]: see README.md.
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>
#include <c10/core/InferenceMode.h>

#include <cstdio>
#include <exception>
#include <string_view>

#include "direct_benchmark.hpp"
#include "harness_benchmark.hpp"

int main(int argc, char** argv) {
  namespace benchmarks = assay::benchmarks;
  benchmark::Initialize(&argc, argv);
  std::filesystem::path plugins = ASSAY_BENCHMARK_PLUGINS;
  bool verify = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--verify") {
      verify = true;
    } else if (word == "--plugins" && i + 1 < argc) {
      plugins = argv[++i];
    } else {
      std::fprintf(stderr, "assay_benchmarks: unknown option %s\n", argv[i]);
      return 2;
    }
  }
  try {
    const c10::InferenceMode inference;  // as the engine runs a check
    // With more, calls wait milliseconds for a thread that another process keeps from its core.
    at::set_num_threads(1);
    const auto checks = benchmarks::load_checks(plugins);
    if (verify) {
      const bool agree = benchmarks::direct_calls_agree(checks);
      std::printf("%zu checks: plan and direct calls %s\n", checks.size(),
                  agree ? "agree" : "do not agree");
      return agree ? 0 : 1;
    }
    benchmarks::register_harness_benchmarks();
    benchmarks::register_direct_benchmarks(checks);
    benchmark::RunSpecifiedBenchmarks();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "assay_benchmarks: %s\n", e.what());
    return 1;
  }
  return 0;
}
