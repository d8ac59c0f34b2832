// SPDX-License-Identifier: Apache-2.0
//
// Prints as it is opened, registers something else each time, leaves a thread, and says nothing of
// itself.
#include <assay/plugin.hpp>

#include <chrono>
#include <cstdio>
#include <random>
#include <string>
#include <thread>

using namespace assay;

namespace {
struct opened {
  opened() {
    std::puts("planted: opened");
    std::fflush(stdout);
  }
} const planted;
}  // namespace

ASSAY_PLUGIN("faulty_registration", "", "")(registry& plugin) {
  std::thread([] {
    for (;;) {
      std::this_thread::sleep_for(std::chrono::hours(1));
    }
  }).detach();
  auto& group = plugin.category("faulty_registration", "");
  group.check("relu_" + std::to_string(std::random_device()()), {randn({8, 8})},
              call("aten::relu", in(0)));
}
