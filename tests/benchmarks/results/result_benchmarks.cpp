// SPDX-License-Identifier: Apache-2.0
//
// What `assay compare` and `assay history` do, by its parts. `--make DIR` writes what they are
// timed with as whole programs.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string_view>

#include "host/results/compare.hpp"
#include "host/results/saved_run.hpp"
#include "host/store/run_store.hpp"
#include "made_runs.hpp"

namespace {

namespace fs = std::filesystem;
using assay::benchmarks::made_run;

constexpr made_run before{.checks = 5000, .seed = 1};
constexpr made_run after{.checks = 5000, .seed = 2, .slower = 1.2};
constexpr std::size_t kept_runs = 1000;

assay::saved_run read(const std::string& text) {
  std::istringstream in(text);
  return assay::read_saved_run(in, "made");
}

void read_a_run(benchmark::State& state) {
  const std::string text = assay::benchmarks::result_text(before);
  for (auto _ : state) {
    benchmark::DoNotOptimize(read(text));
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(text.size()));
}
BENCHMARK(read_a_run)->Unit(benchmark::kMillisecond);

void compare_two_runs(benchmark::State& state) {
  const std::vector<assay::saved_run> old{read(assay::benchmarks::result_text(before))};
  const std::vector<assay::saved_run> now{read(assay::benchmarks::result_text(after))};
  for (auto _ : state) {
    benchmark::DoNotOptimize(assay::compare(old, now, {}));
  }
}
BENCHMARK(compare_two_runs)->Unit(benchmark::kMillisecond);

void read_a_store(benchmark::State& state) {
  const fs::path folder = fs::temp_directory_path() / "assay-result-benchmarks";
  fs::remove_all(folder);
  fs::create_directories(folder);
  assay::benchmarks::fill_store(folder / "runs.sqlite", kept_runs);
  for (auto _ : state) {
    const assay::run_store store(folder / "runs.sqlite", assay::run_store::access::reading);
    benchmark::DoNotOptimize(store.runs());
    benchmark::DoNotOptimize(store.series());
  }
  fs::remove_all(folder);
}
BENCHMARK(read_a_store)->Unit(benchmark::kMillisecond);

void make(const fs::path& folder) {
  fs::create_directories(folder);
  std::ofstream(folder / "before.jsonl") << assay::benchmarks::result_text(before);
  std::ofstream(folder / "after.jsonl") << assay::benchmarks::result_text(after);
  fs::remove(folder / "runs.sqlite");
  assay::benchmarks::fill_store(folder / "runs.sqlite", kept_runs);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--make") {
    try {
      make(argv[2]);
      return 0;
    } catch (const std::exception& error) {
      std::cerr << error.what() << '\n';
      return 1;
    }
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 2;
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
