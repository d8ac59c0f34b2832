// SPDX-License-Identifier: Apache-2.0
//
// assay_device_agreement TORCH_DIR PLUGIN_DIR [option...]: whether the engine's device time of each
// check is what LibTorch's profiler says its kernels took. See README.md.
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <deque>
#include <exception>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine_api.h"
#include "inputs.hpp"
#include "kernel_profile.hpp"
#include "loaded_checks.hpp"
#include "tests/engine/made_check.hpp"
#include "timing.hpp"

namespace assay::benchmarks {

namespace {

using nlohmann::json;

constexpr double compared_from_us = 20.0;  // below, the gaps between kernels weigh too much
constexpr double agreement = 0.03;

constexpr const char* usage =
    "usage: assay_device_agreement TORCH_DIR PLUGIN_DIR [option...]\n"
    "  --device cuda:N   the device (cuda:0)\n"
    "  --large           a few large operators as well\n"
    "  --limit SECONDS   time limit of profile measure for each check (2)\n"
    "  --json FILE       the same numbers as JSON\n";

struct options {
  std::filesystem::path torch, plugins, json_file;
  std::string device = "cuda:0";
  double limit_s = 2.0;
  bool large = false;
};

options read_options(const std::vector<std::string>& words) {
  options read;
  std::vector<std::string> places;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto next = [&] {
      if (++i == words.size()) {
        throw std::invalid_argument(words.back() + " needs a value");
      }
      return words[i];
    };
    if (words[i] == "--device") {
      read.device = next();
    } else if (words[i] == "--large") {
      read.large = true;
    } else if (words[i] == "--limit") {
      read.limit_s = std::stod(next());
    } else if (words[i] == "--json") {
      read.json_file = next();
    } else if (words[i].starts_with("-")) {
      throw std::invalid_argument("unknown option " + words[i]);
    } else {
      places.push_back(words[i]);
    }
  }
  if (places.size() != 2) {
    throw std::invalid_argument("it takes two folders");
  }
  read.torch = places[0];
  read.plugins = places[1];
  return read;
}

// As the worker does it; the library stays open.
void open_backend(const std::filesystem::path& torch) {
  namespace dll = boost::dll;
  for (const char* name : {"libtorch_hip.so", "libtorch_cuda.so"}) {
    const auto file = torch / "lib" / name;
    if (std::filesystem::exists(file)) {
      static dll::shared_library backend;
      backend.load(file, dll::load_mode::rtld_lazy | dll::load_mode::rtld_global);
      return;
    }
  }
  throw std::runtime_error(torch.string() + " has neither libtorch_hip.so nor libtorch_cuda.so");
}

std::deque<tests::made_check> large_checks() {
  const input matrix = randn({4096, 4096});
  const input rows = randn({8192, 8192});
  const input elements = randn({std::int64_t{1} << 26});
  const input batch = randn({64, 1024, 1024});
  std::deque<tests::made_check> made;
  made.emplace_back("mm_4096", std::vector{matrix, matrix}, call("aten::mm", in(0), in(1)));
  made.emplace_back("bmm_64x1024", std::vector{batch, batch}, call("aten::bmm", in(0), in(1)));
  made.emplace_back("conv2d_64x256x56x56",
                    std::vector{randn({64, 256, 56, 56}), randn({256, 256, 3, 3})},
                    call("aten::conv2d", in(0), in(1), arg("padding", 1)));
  made.emplace_back("add_64m", std::vector{elements, elements},
                    call("aten::add.Tensor", in(0), in(1)));
  made.emplace_back("softmax_8192", std::vector{rows}, call("aten::softmax.int", in(0), -1));
  made.emplace_back("layer_norm_8192", std::vector{rows},
                    call("aten::layer_norm", in(0), ints{8192}));
  return made;
}

kernel_profile median_profile(engine::bound_plan& plan, const engine::device_clock& clock,
                              double call_us) {
  constexpr double batch_us = 20e3;
  const auto calls = std::clamp<std::int64_t>(std::llround(batch_us / call_us), 3, 200);
  std::array<kernel_profile, 3> profiles;
  for (kernel_profile& profile : profiles) {
    profile = profile_kernels(plan, clock, calls);
  }
  std::sort(profiles.begin(), profiles.end(),
            [](const auto& a, const auto& b) { return a.us_per_call < b.us_per_call; });
  return profiles[1];
}

json compare(const loaded_check& loaded, const c10::Device& device, double limit_s) {
  const assay_check& check = *loaded.check;
  engine::bound_plan plan(check);
  plan.set_inputs(engine::make_inputs(check, check.dtypes[0], device, 0));
  auto& clock = engine::clock_of(device);
  const auto timing =
      engine::time_plan(plan, clock, {ASSAY_PROFILE_MEASURE, limit_s}, [](const char*) {});
  const kernel_profile kernels = median_profile(plan, clock, timing.wall_us);
  const double device_us = timing.device_us.value();
  const double ratio = kernels.us_per_call > 0.0 ? device_us / kernels.us_per_call : 0.0;
  return {{"check", loaded.id},
          {"device_us", device_us},
          {"device_basis", timing.device_held ? "held" : "span"},
          {"stop_reason", timing.stop_reason},
          {"kernels_us", kernels.us_per_call},
          {"kernels", kernels.activities_per_call},
          {"ratio", ratio},
          {"compared", kernels.us_per_call >= compared_from_us},
          {"agrees", std::abs(ratio - 1.0) <= agreement}};
}

int run(const options& wanted) {
  open_backend(wanted.torch);
  const c10::InferenceMode inference;
  const c10::Device device(wanted.device);
  auto checks = load_checks(wanted.plugins);
  const auto large = wanted.large ? large_checks() : std::deque<tests::made_check>();
  for (const tests::made_check& made : large) {
    checks.push_back({std::string("large/") + made.c_form().name, &made.c_form()});
  }
  json rows = json::array();
  int agreeing = 0;
  int compared = 0;
  int failed = 0;
  std::printf("%-32s%12s%6s%12s%9s%8s\n", "check", "device us", "basis", "kernels us", "kernels",
              "ratio");
  for (const loaded_check& check : checks) {
    try {
      const json row = compare(check, device, wanted.limit_s);
      const bool counts = row["compared"].get<bool>();
      const bool agrees = row["agrees"].get<bool>();
      compared += counts ? 1 : 0;
      agreeing += counts && agrees ? 1 : 0;
      std::printf("%-32s%12.2f%6s%12.2f%9.1f%8.3f  %s\n", check.id.c_str(),
                  row["device_us"].get<double>(), row["device_basis"].get<std::string>().c_str(),
                  row["kernels_us"].get<double>(), row["kernels"].get<double>(),
                  row["ratio"].get<double>(),
                  !counts  ? ""
                  : agrees ? "agrees"
                           : "DIFFERS");
      rows.push_back(row);
    } catch (const std::exception& e) {
      ++failed;
      const std::string text = e.what();
      const std::string line = text.substr(0, text.find('\n'));
      std::printf("%-32sfailed: %s\n", check.id.c_str(), line.c_str());
      rows.push_back({{"check", check.id}, {"error", line}});
    }
    std::fflush(stdout);
  }
  std::printf("\n%d of %d checks over %.0f us agree within %.0f %%\n", agreeing, compared,
              compared_from_us, agreement * 100.0);
  if (!wanted.json_file.empty()) {
    std::ofstream(wanted.json_file)
        << json{{"device", wanted.device}, {"compared_from_us", compared_from_us},
                {"agreement", agreement},  {"agreeing", agreeing},
                {"compared", compared},    {"failed", failed},
                {"checks", rows}}
               .dump(1)
        << "\n";
  }
  return failed == 0 ? 0 : 1;
}

}  // namespace

}  // namespace assay::benchmarks

int main(int argc, char** argv) {
  namespace benchmarks = assay::benchmarks;
  benchmarks::options wanted;
  try {
    wanted = benchmarks::read_options({argv + 1, argv + argc});
  } catch (const std::exception& e) {
    std::fprintf(stderr, "assay_device_agreement: %s\n%s", e.what(), benchmarks::usage);
    return 2;
  }
  try {
    return benchmarks::run(wanted);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "assay_device_agreement: %s\n", e.what());
    return 1;
  }
}
